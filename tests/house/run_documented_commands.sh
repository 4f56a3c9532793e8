#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_documented_commands.sh ROOT VTRAIN DOCUMENT: runs the commands of a document as a reader would, from a scratch
# folder that looks like the repository. A command is a line of a fenced block ```sh that begins with
# build/release/vtrain; a backslash at its end continues it. It must end with exit code 0, or with N where the line
# ends in "# exit N". The commands of a document run in order, in one folder.
set -euo pipefail
root=$1 vtrain=$2 document=$3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/build/release"
ln -s "$vtrain" "$scratch/build/release/vtrain"
for folder in docs traces tests; do
  [ ! -e "$root/$folder" ] || ln -s "$root/$folder" "$scratch/$folder"
done
cd "$scratch"

mapfile -t commands < <(awk '
  /^```/ { inside = ($0 == "```sh"); next }
  !inside { next }
  continued != "" { $0 = continued $0; continued = "" }
  /\\$/ { continued = substr($0, 1, length($0) - 1); next }
  /^build\/release\/vtrain( |$)/ { print }
' "$root/$document")

if [ ${#commands[@]} -eq 0 ]; then
  echo "error: $document has no commands in blocks of \`\`\`sh"
  exit 1
fi
failures=0
for command in "${commands[@]}"; do
  expected=0
  [[ $command =~ \#\ exit\ ([0-9]+)$ ]] && expected=${BASH_REMATCH[1]}
  status=0
  said=$(bash -c "$command" 2>&1 </dev/null) || status=$?
  if [ "$status" -eq "$expected" ]; then
    echo "ok: $command"
  else
    printf 'FAILED with exit %s, expected %s: %s\n%s\n' "$status" "$expected" "$command" "$said"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
