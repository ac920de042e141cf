#!/usr/bin/env bash
# Each libFuzzer target for FUZZ_SECONDS (60), with what it found before as its start.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)"
for program in build/fuzz/tests/fuzz/*_fuzz; do
  corpus=build/fuzz/corpus/$(basename "$program")
  mkdir -p "$corpus"
  "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 "$corpus"
done
