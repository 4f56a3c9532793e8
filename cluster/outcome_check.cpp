// SPDX-License-Identifier: MIT
#include "cluster/outcome_check.hpp"

#include "common/assert.hpp"
#include "common/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {
constexpr std::size_t kJobsShown = 20;
/// Relative error that summation in floating point may leave.
constexpr double kTolerance = 1e-6;
} // namespace

JobReason wait_reason(ClusterState& state, JobId id) {
  return state.pool.fits(state.workload.job(id).gpus) ? JobReason::priority : JobReason::resources;
}

std::string stall_report(ClusterState& state, std::string_view policy, std::size_t unfinished) {
  std::string text =
      fmt::format("the simulation stalled at t = {} s under policy '{}': nothing can happen any more "
                  "and {} of {} jobs are unfinished",
                  format_number(state.now.base()), policy, unfinished, state.runs.size());
  std::size_t shown = 0;
  for (const std::uint32_t rank : state.pending) {
    if (shown++ == kJobsShown)
      break;
    const JobId id(rank);
    text += fmt::format("\n  job {}: {} ({}), asks for {} GPUs, {} of {} are free", state.workload.name(id),
                        to_string(state.run(id).life.state()), to_string(wait_reason(state, id)),
                        state.workload.job(id).gpus.value(), state.pool.free_gpus().value(),
                        state.pool.total_gpus().value());
  }
  if (unfinished > kJobsShown)
    text += fmt::format("\n  … and {} more", unfinished - kJobsShown);
  return text;
}

void check_conservation(const Outcome& outcome, bool cut) {
  double gpu_seconds = 0.0;
  for (const JobRun& run : outcome.state->runs)
    gpu_seconds += run.gpu_seconds;
  const double error = std::abs(gpu_seconds - outcome.busy_gpu_seconds);
  VTRAIN_ASSERT(error <= kTolerance * std::max(1.0, gpu_seconds),
                fmt::format("GPU-seconds of the jobs ({}) differ from the integral of allocated GPUs ({})",
                            gpu_seconds, outcome.busy_gpu_seconds));
  const GpuPool& pool = outcome.state->pool;
  VTRAIN_ASSERT(cut || pool.free_gpus() == pool.total_gpus(),
                "GPUs are still allocated although every job has ended");
}

} // namespace vtrain
