#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test.sh [PRESET [CTEST_ARGUMENT…]]: installs what is missing, builds everything with warnings as errors (preset
# `release` unless another is named), and runs the tests. The last line is "N passed, N failed" and, if some could not
# run here, ", N skipped". The exit code is 0 if no test failed and at least one ran.
#   scripts/test.sh                     all tests
#   scripts/test.sh asan -L unit        unit tests under the address and undefined-behaviour sanitizers
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ $# -eq 0 ] || shift
build=build/$preset

./scripts/install_dependencies.sh --all
./scripts/with_progress.sh "$build/test_configure.log" 'Configuring' cmake --preset "$preset" -DVTRAIN_WERROR=ON
targets=(all)
if [ "$preset" = release ]; then
  targets+=(all_verify_interface_header_sets) # each public header compiles alone
fi
./scripts/with_progress.sh "$build/test_build.log" 'Building (some minutes the first time)' \
  cmake --build --preset "$preset" --parallel "$(nproc)" --target "${targets[@]}"

log=$build/test_run.log
status=0
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel 2 "$@" </dev/null 2>&1 | tee "$log" ||
  status=${PIPESTATUS[0]}

# One line a test: "  3/97 Test  #3: common: a name ...   Passed    0.01 sec", else "***Skipped", "***Failed", ….
read -r passed failed skipped < <(awk '
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    if (/ Passed +[0-9.]+ sec$/) passed++
    else if (/\*\*\*Skipped|\*\*\*Not Run \(Disabled\)/) skipped++
    else failed++
  }
  END { print passed + 0, failed + 0, skipped + 0 }' "$log")
if [ "$status" -eq 0 ] && [ $((failed)) -gt 0 ] || [ $((passed + failed)) -eq 0 ]; then
  status=1
fi
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
exit "$status"
