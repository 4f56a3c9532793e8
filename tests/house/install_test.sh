#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install_test.sh BUILD SOURCE VERSION [CMAKE_ARGUMENT …]: installs a build into a scratch folder, runs the installed
# command, and builds and runs a program that uses the installed libraries with find_package(vtrain).
set -euo pipefail
build=$1 source=$2 version=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"

echo "-- the installed command runs, and finds its engine and the example"
"$prefix/bin/vtrain" version | grep -F "$version"
"$prefix/bin/vtrain" simulate "$prefix/share/vtrain/docs/examples/quickstart.yaml" -o "$scratch/out" -q >"$scratch/run.txt"
test -s "$scratch/out/summary.json"

echo "-- each public header is there and no other"
(cd "$prefix/include/vtrain" && find . -name '*.hpp' | LC_ALL=C sort) >"$scratch/headers.txt"
test -s "$scratch/headers.txt"
if grep -vE '^\./(common|platforms|vtrain_core|jobs|traces|schedulers|cluster|app)/' "$scratch/headers.txt"; then
  echo "error: headers outside the rooms' folders"
  exit 1
fi

echo "-- a program with find_package(vtrain) builds and runs"
cmake -S "$source/tests/house/consumer" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_INSTALL_PREFIX="$prefix" -DVTRAIN_VERSION="$version" "$@" >"$scratch/configure.log"
cmake --build "$scratch/consumer"
cmake --install "$scratch/consumer" >>"$scratch/install.log"
"$prefix/bin/consumer"

echo "-- another minor version is refused"
if cmake -S "$source/tests/house/consumer" -B "$scratch/other" -DCMAKE_PREFIX_PATH="$prefix" -DVTRAIN_VERSION=0.99 \
  "$@" >"$scratch/other.log" 2>&1; then
  echo "error: find_package(vtrain 0.99) accepted version $version"
  exit 1
fi
grep -q 'compatible' "$scratch/other.log"
