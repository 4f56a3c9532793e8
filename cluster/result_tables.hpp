// SPDX-License-Identifier: MIT
// The tables of a run as CSV text: jobs.csv and timeline.csv (design.md section 3).
#pragma once

#include "cluster/simulation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Columns of jobs.csv, in order. New ones are appended at the end.
[[nodiscard]] const std::vector<std::string_view>& job_columns();

/// jobs.csv: one row for each submitted job, in the order of the workload's ranks.
[[nodiscard]] std::string jobs_csv(const Outcome& outcome, const Workload& workload);

/// timeline.csv: t_s,queued,running,gpus_busy,gpus_down,fragmentation; means over the bin that begins at t_s.
[[nodiscard]] std::string timeline_csv(const Outcome& outcome);

} // namespace vtrain
