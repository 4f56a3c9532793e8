#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_includes.sh ROOT: doors between rooms lead downwards only, and each library stays in its room.
# Prints file:line: error: sentence for each wrong #include; exit 1 if there is one, 2 if there is nothing to check.
set -euo pipefail
cd "${1:?usage: check_includes.sh ROOT}"

mapfile -t files < <(find common platforms vtrain_core jobs traces schedulers cluster app \
  \( -name '*.cpp' -o -name '*.hpp' \) -print 2>/dev/null | LC_ALL=C sort)
if [ ${#files[@]} -eq 0 ]; then
  echo "$PWD: error: no sources in any room" >&2
  exit 2
fi

awk '
BEGIN {
  below["common"] = "common"
  below["platforms"] = "common platforms"
  below["vtrain_core"] = "common platforms vtrain_core"
  below["jobs"] = "common platforms vtrain_core jobs"
  below["traces"] = "common platforms vtrain_core jobs traces"
  below["schedulers"] = "common platforms vtrain_core jobs schedulers"
  below["cluster"] = "common platforms vtrain_core jobs traces schedulers cluster"
  below["app"] = "common platforms vtrain_core jobs traces schedulers cluster app"

  # Libraries by the pattern of their headers: where they may be included, and whether headers of ours may.
  n = 0
  library[++n] = "SimGrid";       header[n] = "^(simgrid|xbt)/";            home[n] = "^cluster/simgrid_engine\\.cpp$"
  library[++n] = "CUDA or CUPTI"; header[n] = "^(cuda|cupti|nvperf|nvml|nvtx|nccl|cublas)"; home[n] = "^vtrain_core/profiler/"
  library[++n] = "CLI11";         header[n] = "^CLI/";                      home[n] = "^app/.*\\.cpp$"
  library[++n] = "nlohmann/json"; header[n] = "^nlohmann/";                 home[n] = "\\.cpp$"
  library[++n] = "yaml-cpp";      header[n] = "^yaml-cpp/";                 home[n] = "\\.cpp$"
  library[++n] = "Boost.Graph";   header[n] = "^boost/(graph|property_map)/"; home[n] = "^vtrain_core/graph/.*\\.cpp$"
  library[++n] = "Eigen";         header[n] = "^(Eigen/|unsupported/Eigen)";      home[n] = "^vtrain_core/calibration/fit\\.cpp$"

  # The folders of vtrain_core, and what each may use beside itself.
  core["model"] = ""
  core["pipeline"] = ""
  core["profiler"] = ""
  core["plan"] = "model pipeline"
  core["formats"] = "model plan"
  core["graph"] = "model plan"
  core["cost"] = "graph plan"
  core["estimate"] = "cost graph model pipeline plan"
  core["calibration"] = "cost estimate graph model pipeline plan"
  core["compat"] = "cost pipeline"
  core["search"] = "cost estimate graph model plan"
}
function wrong(sentence) {
  printf "%s:%d: error: %s\n", FILENAME, FNR, sentence
  status = 1
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
  name = $0
  sub(/^[^"<]*["<]/, "", name)
  sub(/[">].*$/, "", name)
  split(FILENAME, path, "/")
  room = path[1]
  for (i = 1; i <= n; i++)
    if (name ~ header[i] && FILENAME !~ home[i])
      wrong("<" name "> is not for this file: " library[i] " belongs in " home[i])
  split(name, target, "/")
  if (target[1] in below) {
    if (index(" " below[room] " ", " " target[1] " ") == 0)
      wrong(room " may not use " target[1] " (\"" name "\")")
    if (room == "vtrain_core" && target[1] == room && target[2] != path[2] &&
        index(" " core[path[2]] " ", " " target[2] " ") == 0)
      wrong("vtrain_core/" path[2] " may not use vtrain_core/" target[2] " (\"" name "\")")
  } else if ($0 ~ /include[ \t]*"/) {
    wrong("\"" name "\" is not given from the root of the repository")
  }
}
END { exit status }
' "${files[@]}"
