#!/usr/bin/env bash
# Every benchmark that needs no Kubernetes; numbers go to stdout, nothing is asserted.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset bench >/dev/null
cmake --build --preset bench -j "$(nproc)"

echo "## Machine"
echo "$(nproc) cores, $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo), $(awk '/MemTotal/ {printf "%.0f GiB", $2/1048576}' /proc/meminfo), $(. /etc/os-release && echo "$PRETTY_NAME"), $(g++ -dumpfullversion)"
for program in build/bench/tests/bench/*_bench; do
  echo
  echo "## $(basename "$program")"
  "$program" --benchmark_min_time="${BENCH_MIN_TIME:-0.5}" 2>/dev/null
done
echo
echo "## Over mutual TLS, keep-alive"
build/bench/tests/bench/door_load build/bench/rankward --seconds "${BENCH_SECONDS:-5}"
echo
echo "## While a cluster is watched"
build/bench/tests/bench/watched_load build/bench/rankward --seconds "${BENCH_SECONDS:-10}"
echo
echo "## Placement quality (docs/placement-quality.md)"
for cluster in fabric-850 fabric-850-uniform nvl72; do
  echo
  echo "$cluster"
  build/bench/rankward simulate --nodes "$cluster" --gangs "${BENCH_GANGS:-1000}" --singles "${BENCH_GANGS:-1000}"
done
