// SPDX-License-Identifier: MIT
// The work of a job on its curve, and the place of a job in its trace, for all that give curves to jobs.
#pragma once

#include "common/diagnostics.hpp"
#include "jobs/workload.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace vtrain {

/// The line of the trace that a job comes from.
[[nodiscard]] SourceLocation place_of(const Workload& workload, const Job& job);

/// Sets the job's work and duration from its curve: its iterations, or as many as its recorded duration holds
/// at the requested GPUs. `source` gives the curve, in messages. Errors name the job's line.
void set_work(const Workload& workload, Job& job, const std::string& source, Diagnostics& diagnostics);

/// A cluster as wide as any job.
inline constexpr GpuCount kAnyWidth{std::numeric_limits<std::int32_t>::max()};

/// Whether the job asks for more GPUs than the cluster has, so that it is rejected on arrival (`oversize:
/// reject`). Then it needs no speed: it gets its recorded duration, if it has one, and no work.
[[nodiscard]] bool give_up_if_too_wide(Job& job, GpuCount cluster_gpus);

} // namespace vtrain
