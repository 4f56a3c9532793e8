#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# with_progress.sh LOG WHAT COMMAND…: runs a build and shows how far it is instead of what it prints, which goes to LOG.
# When the command fails, the end of LOG is shown and its exit code is passed on.
set -euo pipefail
log=$1 what=$2
shift 2
mkdir -p "$(dirname "$log")"

# Ninja prints "[done/all] step". On a terminal one line is rewritten, elsewhere each quarter is a line.
show_progress() {
  local line shown=-1 quarter
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    if [ -t 2 ]; then
      printf '\r%s: %d of %d steps ' "$what" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
      shown=0
    else
      quarter=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      if [ $quarter -gt $shown ]; then
        printf '%s: %d of %d steps\n' "$what" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
        shown=$quarter
      fi
    fi
  done
  if [ -t 2 ] && [ $shown -ge 0 ]; then
    printf '\n' >&2
  fi
}

: >"$log"
status=0
"$@" 2>&1 </dev/null | show_progress || status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
  tail -n 60 "$log" >&2
  echo "error: $what failed (all of it is in $log)" >&2
fi
exit "$status"
