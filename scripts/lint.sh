#!/usr/bin/env bash
# clang-format, what the rooms may include, and how long files may be.
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

exit $failed
