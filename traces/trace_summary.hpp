// SPDX-License-Identifier: MIT
// What is in a trace, in the figures people compare traces by.
#pragma once

#include "jobs/workload.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// Quantiles by nearest rank; empty input gives none.
struct Quantiles {
  double p10 = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0, mean = 0;
};
[[nodiscard]] std::optional<Quantiles> quantiles(std::vector<double> values);

struct TraceSummary {
  std::size_t jobs = 0;
  Seconds first_submit, last_submit;
  double gpu_hours = 0.0; ///< sum of GPUs x duration of the jobs whose duration is known
  std::size_t jobs_without_duration = 0;
  double mean_gpus_demanded = 0.0;    ///< GPU-seconds / (last submit - first submit); 0 for a single instant
  std::size_t equal_submit_times = 0; ///< jobs submitted at the same time as the job before
  std::size_t with_deadline = 0;
  std::size_t infeasible_deadlines = 0; ///< deadline < submit + duration
  std::optional<Quantiles> duration_s, gap_s;
  struct WidthClass {
    GpuCount gpus;
    std::size_t jobs = 0;
    double gpu_hours = 0.0;
  };
  std::vector<WidthClass> widths; ///< by increasing GPU count
  std::array<std::size_t, 24>
      by_hour{}; ///< jobs by hour of the trace's own clock (hour 0 = clock 0 mod 86400)
};

/// Statistics of a workload (throughput not needed).
[[nodiscard]] TraceSummary summarize(const Workload& workload);

} // namespace vtrain
