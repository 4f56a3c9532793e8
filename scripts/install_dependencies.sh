#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install_dependencies.sh [--all]: installs the Debian packages that the build needs and this machine lacks. With --all
# also those of the packaging test.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config libsimgrid-dev libboost-graph-dev libyaml-cpp-dev libspdlog-dev libfmt-dev
  libcli11-dev nlohmann-json3-dev doctest-dev zlib1g-dev libmd-dev libeigen3-dev)
case ${1:-} in
  '') ;;
  --all) packages+=(dpkg-dev file) ;;
  *)
    echo "usage: install_dependencies.sh [--all]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system. The build needs what these Debian packages hold:" >&2
  echo "  ${packages[*]}" >&2
  exit 0 # CMake says what is missing, if anything is
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: these packages are missing, and only root can install them (there is no sudo here):" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing ${missing[*]} …" >&2
if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "error: the packages could not be installed" >&2
  exit 1
fi
