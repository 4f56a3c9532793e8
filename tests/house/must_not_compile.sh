#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# must_not_compile.sh COMPILER ROOT SOURCE [CASE]: with CASE defined the compiler must complain about the line of that
# case in SOURCE which is marked "// mistake"; without a case SOURCE must compile.
set -euo pipefail
compiler=$1 root=$2 source=$3 case=${4:-}
compile() { "$compiler" -std=c++20 -fsyntax-only -I "$root" "$@" "$source" 2>&1; }

if [ -z "$case" ]; then
  compile
  exit
fi
line=$(awk -v case="($case)" 'index($0, case) { wanted = 1 } wanted && /\/\/ mistake/ { print NR; exit }' "$source")
if [ -z "$line" ]; then
  echo "error: $source has no case $case"
  exit 1
fi
if said=$(compile "-D$case"); then
  echo "error: $source:$line compiles and should not"
  exit 1
fi
if [[ $said != *"$source:$line:"*error:* ]]; then
  echo "error: the compiler complains about something else than $source:$line: $said"
  exit 1
fi
