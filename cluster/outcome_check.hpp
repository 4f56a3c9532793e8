// SPDX-License-Identifier: MIT
// What must hold at the end of a run, and what is said when it cannot go on.
#pragma once

#include "cluster/simulation.hpp"

#include <string>
#include <string_view>

namespace vtrain {

/// Why a waiting job waits: `resources` when the placement would refuse it now, else `priority`.
[[nodiscard]] JobReason wait_reason(ClusterState& state, JobId id);

/// The text of a stall: what is unfinished, in which state, and why; at most 20 jobs are listed.
[[nodiscard]] std::string stall_report(ClusterState& state, std::string_view policy, std::size_t unfinished);

/// Conservation: GPU-seconds of the jobs equal the integral of allocated GPUs, and no GPU is still allocated
/// unless the run was cut. Throws InternalError otherwise: a wrong number must not leave the program.
void check_conservation(const Outcome& outcome, bool cut);

} // namespace vtrain
