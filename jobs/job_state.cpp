// SPDX-License-Identifier: MIT
#include "jobs/job_state.hpp"

#include "common/assert.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <initializer_list>

namespace vtrain {
namespace {

constexpr std::size_t kStates = 8;
using Row = std::array<bool, kStates>;

constexpr std::size_t index(JobState state) {
  return static_cast<std::size_t>(state);
}

constexpr Row to(std::initializer_list<JobState> targets) {
  Row row{};
  for (const JobState target : targets)
    row[index(target)] = true;
  return row;
}

constexpr std::array<Row, kStates> legal_transitions() {
  using enum JobState;
  std::array<Row, kStates> table{};
  table[index(future)] = to({pending, rejected});
  table[index(pending)] = to({starting, running, cancelled, rejected});
  // A resize or a migration begins a new switch: a job may enter the state it is in.
  table[index(starting)] = to({pending, starting, running, failed, cancelled});
  table[index(running)] = to({pending, starting, running, completed, failed, cancelled});
  return table; // the final states lead nowhere
}

constexpr std::array<Row, kStates> kLegal = legal_transitions();

/// Each state by its own name, for messages (`to_string` has Slurm's, which are fewer).
constexpr std::array<std::string_view, kStates> kNames = {"future",    "pending", "starting",  "running",
                                                          "completed", "failed",  "cancelled", "rejected"};

} // namespace

bool is_legal(JobState from, JobState to) {
  return kLegal[index(from)][index(to)];
}

bool is_final(JobState state) {
  return state >= JobState::completed;
}

bool holds_gpus(JobState state) {
  return state == JobState::starting || state == JobState::running;
}

std::string_view to_string(JobState state) {
  switch (state) {
  case JobState::future:
  case JobState::pending: return "PENDING";
  case JobState::starting:
  case JobState::running: return "RUNNING";
  case JobState::completed: return "COMPLETED";
  case JobState::failed: return "FAILED";
  case JobState::cancelled: return "CANCELLED";
  case JobState::rejected: return "REJECTED";
  }
  VTRAIN_ASSERT(false, "not a job state");
}

void JobLife::enter(JobState next) {
  if (!is_legal(state_, next))
    throw SimulationError(
        fmt::format("a job cannot go from {} to {}", kNames[index(state_)], kNames[index(next)]));
  state_ = next;
}

} // namespace vtrain
