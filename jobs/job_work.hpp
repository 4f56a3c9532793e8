// SPDX-License-Identifier: MIT
// The work of a job on its curve, and the place of a job in its trace, for all that give curves to jobs.
#pragma once

#include "common/diagnostics.hpp"
#include "jobs/workload.hpp"

#include <string>

namespace vtrain {

/// The line of the trace that a job comes from.
[[nodiscard]] SourceLocation place_of(const Workload& workload, const Job& job);

/// Sets the job's work and duration from its curve: its iterations, or as many as its recorded duration holds
/// at the requested GPUs. `source` gives the curve, in messages. Errors name the job's line.
void set_work(const Workload& workload, Job& job, const std::string& source, Diagnostics& diagnostics);

} // namespace vtrain
