#!/usr/bin/env bash
# clang-format, what the rooms may include, and clang-tidy on what changed since it last passed.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
mapfile -t sources < <(git ls-files '*.hpp' '*.cpp')

if ! clang-format --dry-run -Werror "${sources[@]}"; then
  echo "lint: run 'make format'" >&2
  failed=1
fi

# The core has no IO: no JSON, network, TLS, log, thread or clock.
core='(src|include/rankward)/(kube|topology|placement|admission)'
forbidden='#include <(boost/(json|asio|beast)|openssl/|spdlog/|simdjson|yaml-cpp|prometheus/|thread>|mutex>|chrono>|fstream>|iostream>)'
if git grep -nE "$forbidden" -- $(git ls-files | grep -E "^$core/.*\.(hpp|cpp)$"); then
  echo "lint: the core includes an IO library" >&2
  failed=1
fi
# Libraries that live in one room only.
in_one_room() {
  local pattern=$1 room=$2
  if git grep -nE "$pattern" -- src include ":!src/$room" ":!include/rankward/$room"; then
    echo "lint: $pattern belongs in $room alone" >&2
    failed=1
  fi
}
in_one_room '#include <(boost/(asio|beast)|openssl/)' net
in_one_room '#include <(simdjson|yaml-cpp)' formats
# kubeconfig, ExecCredential and Status are read where they are used, in cluster.
if git grep -nE '#include <boost/json' -- src include ":!src/formats" ":!src/cluster"; then
  echo "lint: Boost.JSON belongs in formats and cluster" >&2
  failed=1
fi
in_one_room '#include <spdlog/' record
in_one_room '#include <CLI/' cli

long=$(git ls-files -z src include | xargs -0 wc -l | awk '$1 > 600 && $2 != "total" {print $2 ": " $1 " lines"}')
if [ -n "$long" ]; then echo "lint: files that want to be two: $long" >&2; failed=1; fi

# clang-tidy takes seconds a file: a file whose preprocessed text has not changed since it last passed
# is not read again.
cmake --preset release >/dev/null
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rankward/tidy
mkdir -p "$cache"
settings=$(sha256sum .clang-tidy | cut -d' ' -f1)
export cache settings
tidy_one() {
  local file=$1 key
  # Headers of ours that a file can see are few; hashing them all is cheaper than preprocessing.
  key=$( (echo "$settings"; cat "$file"; git ls-files -z include src '*.hpp' | grep -z '\.hpp$' | xargs -0 cat) | sha256sum | cut -d' ' -f1)
  [ -e "$cache/$key" ] && return 0
  if clang-tidy -p build/release --quiet "$file" 2>/dev/null; then touch "$cache/$key"; else echo "lint: clang-tidy: $file" >&2; return 1; fi
}
export -f tidy_one
git ls-files 'src/*.cpp' | xargs -P "$(nproc)" -I{} bash -c 'tidy_one {}' || failed=1

exit $failed
