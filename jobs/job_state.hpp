// SPDX-License-Identifier: MIT
// The life of a job as an explicit state machine.
#pragma once

#include "common/diagnostics.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace vtrain {

/// States are Slurm's where Slurm has one. A job leaves `future` at its submit time and ends in one of the
/// last four.
enum class JobState : std::uint8_t {
  future,    ///< not submitted yet
  pending,   ///< waits for GPUs (before its first start, or after a preemption)
  starting,  ///< holds GPUs and pays a switch cost: no progress
  running,   ///< holds GPUs and makes progress
  completed, ///< did all its work
  failed,    ///< ended without doing it
  cancelled, ///< withdrawn by its user
  rejected,  ///< refused by the policy or because it can never run
};

/// Whether the life of a job may go from `from` to `to`.
[[nodiscard]] bool is_legal(JobState from, JobState to);
/// Whether nothing follows this state.
[[nodiscard]] bool is_final(JobState state);
/// Whether a job in this state holds GPUs.
[[nodiscard]] bool holds_gpus(JobState state);
/// Upper-case name for output: PENDING, RUNNING (also for `starting`), COMPLETED, FAILED, CANCELLED,
/// REJECTED. `future` reads PENDING.
[[nodiscard]] std::string_view to_string(JobState state);

/// A job's current state. The only way to change it is `enter`, which refuses illegal transitions.
class JobLife {
public:
  [[nodiscard]] JobState state() const { return state_; }
  /// Throws SimulationError that names both states when the transition is illegal.
  void enter(JobState next);

private:
  JobState state_ = JobState::future;
};

} // namespace vtrain
