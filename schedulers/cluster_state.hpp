// SPDX-License-Identifier: MIT
// The state that the simulation keeps and policies look at through ClusterView.
#pragma once

#include "common/rank_set.hpp"
#include "jobs/job_run.hpp"
#include "jobs/workload.hpp"
#include "schedulers/gpu_pool.hpp"
#include "schedulers/information.hpp"
#include "schedulers/switch_cost.hpp"

#include <vector>

namespace vtrain {

/// Everything about jobs and GPUs at one instant. Owned and changed by the simulation alone; a policy gets a
/// ClusterView.
struct ClusterState {
  ClusterState(const Workload& jobs, GpuPool gpu_pool, Information known, SwitchCost cost)
      : workload(jobs),
        pool(std::move(gpu_pool)),
        information(std::move(known)),
        switch_cost(std::move(cost)),
        runs(jobs.jobs.size()),
        pending(jobs.jobs.size()),
        running(jobs.jobs.size()) {}

  const Workload& workload;
  GpuPool pool;
  Information information;
  SwitchCost switch_cost;
  std::vector<JobRun> runs; ///< by JobId
  RankSet pending;          ///< jobs that wait for GPUs
  RankSet running;          ///< jobs that hold GPUs
  Seconds now;

  /// What happened since the policy was called last, in event order.
  std::vector<JobId> arrived;
  std::vector<JobId> ended;
  std::vector<JobId> evicted;

  [[nodiscard]] JobRun& run(JobId id) { return runs[id.value()]; }
  [[nodiscard]] const JobRun& run(JobId id) const { return runs[id.value()]; }
};

} // namespace vtrain
