// SPDX-License-Identifier: MIT
// What is in a trace, as `vtrain trace inspect` shows it.
#pragma once

#include "app/command_line.hpp"
#include "traces/trace_summary.hpp"

#include <optional>
#include <string>

namespace vtrain {

/// A trace and what was found out about it.
struct TraceInspection {
  TraceFunnel funnel;
  TraceSummary summary;
  /// For a cluster that was named: GPU time asked for / GPU time that it has between first and last submit.
  struct Load {
    GpuCount cluster;
    double offered = 0.0;
    std::size_t wider_jobs = 0; ///< jobs that ask for more GPUs than it has
  };
  std::optional<Load> load;
};

/// Summarises a workload, for a cluster of `cluster_gpus` if given.
[[nodiscard]] TraceInspection inspect(const Workload& workload, std::optional<GpuCount> cluster_gpus);

/// Text as a person reads it, a JSON object, or CSV of `figure,value`.
[[nodiscard]] std::string render(const TraceInspection& inspection, OutputFormat format);

} // namespace vtrain
