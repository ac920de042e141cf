#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, and nothing that is already there.
# Asks for sudo only when something is missing. Knows Debian 12 and Ubuntu 24.04.
set -euo pipefail

if ! command -v apt-get >/dev/null; then
  echo "install-dependencies: no apt-get here. Install the equivalents of the packages in $0 by hand." >&2
  exit 1
fi

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Boost carries its version in the package names: take the newest that this release has.
boost_version() {
  local version
  for version in 1.83 1.81; do
    if apt-cache show "libboost${version}-dev" >/dev/null 2>&1; then echo "$version"; return; fi
  done
  echo 1.81
}

# By name in the database, so that an installed package costs no apt call.
installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# A release whose lists were never fetched knows no Boost; its installed packages still do.
version=""
for candidate in 1.83 1.81; do
  if installed "libboost${candidate}-dev"; then version=$candidate; break; fi
done

packages=(g++ cmake ninja-build ccache make git ca-certificates openssl python3 python3-venv
  libssl-dev libspdlog-dev libfmt-dev libyaml-cpp-dev libcli11-dev prometheus-cpp-dev libsimdjson-dev
  libgtest-dev libgmock-dev)
case " ${1:-} " in
  *" --lint "*) packages+=(clang-format clang-tidy) ;;
  *" --bench "*) packages+=(libbenchmark-dev) ;;
  *" --fuzz "*) packages+=(clang libclang-rt-14-dev) ;;
esac

missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
[ -n "$version" ] && installed "libboost-json${version}-dev" || missing+=(boost)

if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
echo "install-dependencies: ${missing[*]}"
as_root apt-get update -qq
if [ "${missing[-1]}" = boost ]; then
  unset 'missing[-1]'
  version=${version:-$(boost_version)}
  missing+=("libboost${version}-dev" "libboost-json${version}-dev")
fi
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
