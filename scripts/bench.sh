#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench.sh [NAME…]: builds the benchmarks and runs all of them, or those named (`engine` is engine_bench). What they
# print is kept in out/benchmarks/NAME.txt, headed by machine and commit.
set -euo pipefail
cd "$(dirname "$0")/.."
./scripts/install_dependencies.sh --all
./scripts/with_progress.sh build/release/bench_configure.log 'Configuring' \
  cmake --preset release -DVTRAIN_BUILD_BENCHMARKS=ON
./scripts/with_progress.sh build/release/bench_build.log 'Building' \
  cmake --build --preset release --target vtrain_benchmarks --parallel "$(nproc)"

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for program in build/release/benchmarks/*_bench; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    names+=("${name%_bench}")
  done
fi
if [ ${#names[@]} -eq 0 ]; then
  echo "error: there are no benchmarks" >&2
  exit 1
fi

mkdir -p out/benchmarks
for name in "${names[@]}"; do
  {
    echo "# $name, $(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    echo "# $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
    "build/release/benchmarks/${name}_bench"
  } | tee "out/benchmarks/$name.txt"
done
