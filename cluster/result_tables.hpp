// SPDX-License-Identifier: MIT
// The tables of a run as CSV text: jobs.csv and timeline.csv (docs/metrics.md).
#pragma once

#include "cluster/simulation.hpp"
#include "cluster/summary.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Columns of jobs.csv, in order. New ones are appended at the end.
[[nodiscard]] const std::vector<std::string_view>& job_columns();

/// jobs.csv: one row for each submitted job, in the order of the workload's ranks. Jobs in `window` are
/// marked as measured.
[[nodiscard]] std::string jobs_csv(const Outcome& outcome, const Workload& workload,
                                   const MeasuredWindow& window = {});

/// timeline.csv: t_s,queued,running,gpus_busy,gpus_down,fragmentation; means from t_s to the next row's. The
/// last row stands at the end of the run and closes the last interval: sum(gpus_busy x (next t_s - t_s)) is
/// the GPU-seconds allocated.
[[nodiscard]] std::string timeline_csv(const Outcome& outcome);

} // namespace vtrain
