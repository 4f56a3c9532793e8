// SPDX-License-Identifier: MIT
// Trace files -> Workload. One adapter per dialect; a funnel counts every row that does not become a job.
#pragma once

#include "common/diagnostics.hpp"
#include "jobs/workload.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace vtrain {

/// What to do with rows that cannot run: `error` refuses the trace, `drop` leaves them out and counts them.
enum class ZeroGpuRows { error, drop };
/// Jobs that ask for more GPUs than the cluster has: refuse the trace, leave them out, submit and reject
/// them, or clamp their request (the recorded duration stays).
enum class OversizeJobs { error, drop, reject, clamp };

struct TraceOptions {
  std::filesystem::path file;
  std::string format =
      "auto"; ///< a dialect's name, or "auto": the dialect whose header matches, if exactly one does
  ZeroGpuRows zero_gpu = ZeroGpuRows::error;
};

/// A dialect, for `list trace-formats`.
struct TraceFormat {
  std::string name;
  std::string summary;
  std::string columns; ///< "job_id,submit_s,gpus,duration_s|iterations[,model,…]"
};
[[nodiscard]] const std::vector<TraceFormat>& trace_formats();

/// Reads a trace. The result is sorted stably by submit time (ties keep file order) and has no throughput
/// yet. Every wrong value is reported with file, line and column; equal job ids are an error that names both
/// lines. Throws what CsvTable::read throws. When `diagnostics` has errors the workload is incomplete.
[[nodiscard]] Workload read_trace(const TraceOptions& options, Diagnostics& diagnostics);

/// Applies the option for jobs wider than `cluster_gpus`; counts them in the funnel. Under `reject` they stay
/// (the simulator rejects them when they arrive).
void apply_oversize(Workload& workload, GpuCount cluster_gpus, OversizeJobs option, Diagnostics& diagnostics);

} // namespace vtrain
