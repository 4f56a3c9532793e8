#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quickstart.sh [--build-only]: installs what is missing, builds the `vtrain` command, compares four scheduling policies
# on a bundled trace, and says where the report is.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  '' | --build-only) ;;
  *)
    echo "usage: scripts/quickstart.sh [--build-only]" >&2
    exit 2
    ;;
esac

./scripts/install_dependencies.sh
./scripts/with_progress.sh build/release/quickstart_configure.log 'Configuring' cmake --preset release
./scripts/with_progress.sh build/release/quickstart_build.log 'Building (some minutes the first time)' \
  cmake --build --preset release --target vtrain --parallel "$(nproc)"
if [ "${1:-}" = --build-only ]; then
  echo "The command is build/release/vtrain; build/release/vtrain --help shows what it does."
  exit 0
fi

build/release/vtrain compare docs/examples/quickstart.yaml --policies fifo,srtf,las,easy -o out/quickstart
cat <<END

Open $PWD/out/quickstart/report.html in a browser.
Next: build/release/vtrain simulate docs/examples/itp.yaml
      build/release/vtrain --help
END
