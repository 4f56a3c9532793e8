#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh [--check]: formats all C++ sources in place, or says which are not formatted (exit 1). Needs clang-format 14:
# other versions format differently.
set -euo pipefail
cd "$(dirname "$0")/.."
arguments=(-i)
case ${1:-} in
  '') ;;
  --check) arguments=(--dry-run --Werror) ;;
  *)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac

tool=
for candidate in clang-format-14 clang-format; do
  if [[ $("$candidate" --version 2>/dev/null || true) == *'version 14.'* ]]; then
    tool=$candidate
    break
  fi
done
if [ -z "$tool" ]; then
  echo "error: clang-format 14 was not found (Debian: clang-format-14)" >&2
  exit 1
fi
find app benchmarks cluster common jobs platforms schedulers tests traces vtrain_core \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \) -print0 | LC_ALL=C sort -z | xargs -0 "$tool" "${arguments[@]}"
