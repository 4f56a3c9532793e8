#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# package_test.sh BUILD VERSION: makes the Debian packages of a build, looks at what they hold and need, and runs the
# command out of the unpacked package.
set -euo pipefail
build=$1 version=$2
for tool in dpkg-deb dpkg-shlibdeps file strip; do
  if ! command -v $tool >/dev/null; then
    echo "skipped: $tool is not installed (Debian: dpkg, dpkg-dev, file, binutils)"
    exit 77
  fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages" >"$scratch/cpack.log" 2>&1 || {
  cat "$scratch/cpack.log"
  exit 1
}
runtime=$(ls "$scratch"/packages/vtrain_*.deb)
dev=$(ls "$scratch"/packages/libvtrain-dev_*.deb)

# field PACKAGE NAME PATTERN: the control field matches.
field() {
  local value
  value=$(dpkg-deb --field "$1" "$2")
  [[ $value =~ $3 ]] || { echo "error: $(basename "$1"): $2 is '$value', expected $3"; exit 1; }
}
# holds PACKAGE PATTERN: there is a file with such a path.
holds() {
  dpkg-deb --contents "$1" >"$scratch/contents.txt"
  grep -qE "$2" "$scratch/contents.txt" || { echo "error: $(basename "$1") has no file $2"; exit 1; }
}

field "$runtime" Version "^${version//./\\.}"
field "$runtime" Depends 'libsimgrid3'
field "$runtime" Depends 'libyaml-cpp'
field "$dev" Depends 'vtrain \(= '
field "$dev" Depends 'libyaml-cpp-dev'
holds "$runtime" '\./usr/bin/vtrain$'
holds "$runtime" '/vtrain/libvtrain_simgrid_engine\.so$'
holds "$runtime" '/share/vtrain/docs/examples/quickstart\.yaml$'
holds "$runtime" '/share/doc/vtrain/copyright$'
holds "$dev" '/libvtrain_common\.a$'
holds "$dev" '/include/vtrain/common/units\.hpp$'
holds "$dev" '/cmake/vtrain/vtrainConfig\.cmake$'

dpkg-deb --extract "$runtime" "$scratch/root"
if file "$scratch/root/usr/bin/vtrain" | grep -q 'not stripped'; then
  echo "error: the command is not stripped"
  exit 1
fi
"$scratch/root/usr/bin/vtrain" version | grep -F "$version"
"$scratch/root/usr/bin/vtrain" simulate "$scratch/root/usr/share/vtrain/docs/examples/quickstart.yaml" -o "$scratch/out" -q \
  >"$scratch/run.txt"
test -s "$scratch/out/summary.json"
du -k "$runtime" "$dev" | awk '{ printf "%d kB %s\n", $1, $2 }'
