#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that check_includes.sh finds what it is there for.
set -euo pipefail
check=$(cd "$(dirname "$0")" && pwd)/check_includes.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# verdict FILE LINE ok|SENTENCE: a tree that holds just LINE in FILE is fine, or is refused with SENTENCE.
verdict() {
  rm -rf "${scratch:?}/tree"
  mkdir -p "$scratch/tree/$(dirname "$1")"
  printf '#include <vector>\n%s\n' "$2" >"$scratch/tree/$1"
  local said='' status=0
  said=$(bash "$check" "$scratch/tree" 2>&1) || status=$?
  if [ "$3" = ok ]; then
    [ $status -eq 0 ] && return
  elif [ $status -eq 1 ] && [[ $said == "$1:2: error: "*"$3"* ]]; then
    return
  fi
  echo "$1 with $2: expected '$3', got exit $status: $said"
  failures=$((failures + 1))
}

verdict common/a.cpp '#include "common/a.hpp"' ok
verdict app/a.cpp '#include "cluster/simulation.hpp"' ok
verdict cluster/a.cpp '#include "traces/trace_reader.hpp"' ok
verdict cluster/simgrid_engine.cpp '#include <simgrid/s4u.hpp>' ok
verdict vtrain_core/profiler/a.cpp '#  include <cupti.h>' ok
verdict app/a.cpp '#include <CLI/CLI.hpp>' ok
verdict cluster/a.cpp '#include <nlohmann/json.hpp>' ok
verdict common/a.cpp '// #include "app/verbs.hpp"' ok

verdict common/a.cpp '#include "jobs/job.hpp"' 'common may not use jobs'
verdict jobs/a.hpp '#include "schedulers/scheduler.hpp"' 'jobs may not use schedulers'
verdict traces/a.cpp '#include "schedulers/scheduler.hpp"' 'traces may not use schedulers'
verdict schedulers/policies/a.cpp '#include "traces/trace_reader.hpp"' 'schedulers may not use traces'
verdict cluster/a.cpp '#include "app/verbs.hpp"' 'cluster may not use app'
verdict cluster/a.cpp '# include <app/verbs.hpp>' 'cluster may not use app'
verdict platforms/a.cpp '#include "catalogue.hpp"' 'not given from the root'
verdict cluster/simulation.cpp '#include <simgrid/s4u.hpp>' 'SimGrid belongs in'
verdict cluster/simgrid_engine.hpp '#include <simgrid/s4u.hpp>' 'SimGrid belongs in'
verdict vtrain_core/a.cpp '#include <cupti.h>' 'CUDA or CUPTI belongs in'
verdict cluster/a.cpp '#include <cuda_runtime.h>' 'CUDA or CUPTI belongs in'
verdict cluster/a.cpp '#include <CLI/CLI.hpp>' 'CLI11 belongs in'
verdict app/a.hpp '#include <CLI/CLI.hpp>' 'CLI11 belongs in'
verdict cluster/a.hpp '#include <nlohmann/json.hpp>' 'nlohmann/json belongs in'
verdict common/a.hpp '#include <yaml-cpp/yaml.h>' 'yaml-cpp belongs in'
verdict vtrain_core/graph/a.cpp '#include <boost/graph/adjacency_list.hpp>' ok
verdict vtrain_core/calibration/fit.cpp '#include <Eigen/Dense>' ok
verdict vtrain_core/estimate/a.cpp '#include "vtrain_core/cost/cost_model.hpp"' ok
verdict platforms/a.cpp '#include <boost/graph/adjacency_list.hpp>' 'Boost.Graph belongs in'
verdict vtrain_core/graph/a.cpp '#include <Eigen/Dense>' 'Eigen belongs in'
verdict vtrain_core/plan/a.cpp '#include "vtrain_core/cost/cost_model.hpp"' 'vtrain_core/plan may not use vtrain_core/cost'

rm -rf "$scratch/tree"
mkdir "$scratch/tree"
status=0
bash "$check" "$scratch/tree" 2>/dev/null || status=$?
if [ $status -ne 2 ]; then
  echo "an empty tree: expected exit 2, got $status"
  failures=$((failures + 1))
fi
exit $((failures > 0))
