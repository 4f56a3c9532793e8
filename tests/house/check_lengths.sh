#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_lengths.sh ROOT: no source file has more than 400 lines. Exit 1 if one has, 2 if there is nothing to check.
set -euo pipefail
cd "${1:?usage: check_lengths.sh ROOT}"
find . -type d \( -name .git -o -name build -o -name out \) -prune -o \
  -type f \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -r awk '
    { lines[FILENAME]++ }
    END {
      for (file in lines) {
        files++
        if (lines[file] > 400) {
          printf "%s:400: error: %d lines, 400 are allowed: split the file\n", file, lines[file]
          status = 1
        }
      }
      exit files == 0 ? 2 : status
    }'
