#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that check_lengths.sh finds what it is there for.
set -euo pipefail
check=$(cd "$(dirname "$0")" && pwd)/check_lengths.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tree" "$scratch/tree/build"
seq 401 >"$scratch/tree/build/generated.cpp" # not ours
seq 400 >"$scratch/tree/just_right.cpp"
bash "$check" "$scratch/tree"
seq 401 >"$scratch/tree/too_long.hpp"
if said=$(bash "$check" "$scratch/tree"); then
  echo "a file of 401 lines passed"
  exit 1
fi
[[ $said == *too_long.hpp:400:* && $said != *just_right* && $said != *generated* ]]
