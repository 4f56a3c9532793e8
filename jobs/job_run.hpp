// SPDX-License-Identifier: MIT
// What happens to a job in a run: its state, what it holds, and its progress, settled at each change of its
// GPUs.
#pragma once

#include "common/units.hpp"
#include "jobs/job.hpp"
#include "jobs/job_state.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace vtrain {

/// Why a job waits or ended as it did; the words are Slurm's pending reasons where it has one.
enum class JobReason : std::uint8_t {
  none,
  resources,       ///< waits: not enough free GPUs, or placement refuses
  priority,        ///< waits behind other jobs
  never_submitted, ///< the run was cut before its submit time
  too_wide,        ///< rejected: asks for more GPUs than the cluster has
  rejected_by_policy,
  run_ended, ///< unfinished: the run was cut (`until`, interrupt)
};
/// The word for output, such as "Resources"; empty for `none`.
[[nodiscard]] std::string_view to_string(JobReason reason);

/// An epoch is a time during which a job holds the same GPUs. Progress within it is linear after the switch
/// cost that begins it: work_left(t) = work_left - rate * (t - progress_start).
struct JobRun {
  JobLife life;
  JobReason reason = JobReason::none;
  std::uint32_t generation =
      0; ///< grows whenever the predicted end changes; an end event of another one is stale
  std::uint32_t preemptions = 0;
  std::uint32_t resizes = 0;
  std::uint32_t migrations = 0;
  std::uint32_t restarts = 0; ///< starts after the first one
  GpuCount gpus;              ///< held now; 0 when it waits
  GpuCount gpus_max;          ///< most ever held

  double work_left = 0.0; ///< at `epoch_start`
  PerSecond rate;         ///< work per second in this epoch
  Symbol plan{0};         ///< parallel plan of this epoch; empty where none is known
  Seconds epoch_start;
  Seconds progress_start;   ///< epoch_start + switch cost
  Seconds executed;         ///< time with GPUs in earlier epochs
  double gpu_seconds = 0.0; ///< GPUs x time in earlier epochs: attained service
  double overhead_gpu_seconds =
      0.0; ///< GPUs x time spent on switch costs, this epoch's included when settled
  std::optional<Seconds> first_start;
  std::optional<Seconds> end;

  [[nodiscard]] bool holds_gpus() const { return vtrain::holds_gpus(life.state()); }
  /// Work left at `now` >= epoch_start.
  [[nodiscard]] double work_left_at(Seconds now) const {
    if (!holds_gpus() || now <= progress_start)
      return work_left;
    return std::max(0.0, work_left - rate.base() * (now - progress_start).base());
  }
  /// When the work will be done if nothing changes; the job holds GPUs.
  [[nodiscard]] Seconds finish() const { return progress_start + Seconds(work_left / rate.base()); }
  /// Time with GPUs until `now`.
  [[nodiscard]] Seconds executed_at(Seconds now) const {
    return holds_gpus() ? executed + (now - epoch_start) : executed;
  }
  /// GPUs x time until `now`, in GPU-seconds.
  [[nodiscard]] double gpu_seconds_at(Seconds now) const {
    return holds_gpus() ? gpu_seconds + gpus.value() * (now - epoch_start).base() : gpu_seconds;
  }
};

} // namespace vtrain
