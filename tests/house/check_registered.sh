#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_registered.sh ROOT: CMake names each file of tests, so that none is forgotten. Exit 1 if one is, 2 if there are
# none.
set -euo pipefail
cd "${1:?usage: check_registered.sh ROOT}/tests"
files=0 forgotten=0
for file in */*_test.cpp; do
  [ -e "$file" ] || continue
  files=$((files + 1))
  name=${file##*/}
  if ! grep -qwF "$name" CMakeLists.txt "${file%/*}/CMakeLists.txt" 2>/dev/null; then
    echo "tests/$file:1: error: not in tests/CMakeLists.txt, so it is never built"
    forgotten=1
  fi
done
[ $files -gt 0 ] || exit 2
exit $forgotten
