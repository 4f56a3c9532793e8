// SPDX-License-Identifier: MIT
// A job as its trace describes it. What happens to it in a run is kept elsewhere (jobs/job_run.hpp).
#pragma once

#include "common/units.hpp"

#include <cstdint>
#include <optional>

namespace vtrain {

/// A text stored once in the Workload's string pool. 0 is the empty text.
using Symbol = Id<struct SymbolTag>;
/// A throughput curve of the Workload. `kRecordedCurve` stands for "as recorded in the trace".
using CurveId = Id<struct CurveIdTag>;
inline constexpr CurveId kRecordedCurve{0};

/// What a job asks for: everything that a scheduler may see of it without an oracle.
struct JobRequest {
  Symbol name{0};   ///< the trace's job id, unique
  Symbol user{0};   ///< empty if the trace has none
  Symbol tenant{0}; ///< virtual cluster or account; empty if the trace has none
  Symbol model{0};  ///< empty if the trace has none

  Seconds submit; ///< on the trace's own clock
  GpuCount gpus;  ///< requested GPUs, the gang
  GpuCount
      min_gpus; ///< smallest and largest gang an elastic policy may give; equal to `gpus` for a rigid job
  GpuCount max_gpus;
  std::int32_t priority = 0;              ///< larger is more urgent
  std::int32_t global_batch = 0;          ///< samples of one iteration; 0 if unknown
  bool best_effort = false;               ///< has no deadline by intent
  std::optional<Seconds> deadline;        ///< absolute, on the trace's clock
  std::optional<std::int64_t> iterations; ///< training iterations asked for
};

/// One gang-scheduled training job: its request, and the truth that only an oracle knows. Its JobId is its
/// index in `Workload::jobs`.
struct Job : JobRequest {
  std::optional<Seconds> recorded_duration; ///< run time at `gpus` in the trace
  CurveId curve = kRecordedCurve;
  std::uint32_t line = 0; ///< line of the trace file, for messages

  /// Set by `resolve_throughput_from_*`: run time at `gpus`, and the work to do. The unit of work is one
  /// second at the requested GPUs under `kRecordedCurve` and one iteration under any other curve.
  Seconds duration;
  double work = 0.0;
};

} // namespace vtrain
