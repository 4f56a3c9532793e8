// SPDX-License-Identifier: MIT
// Where a workload's speeds come from: the trace's recorded durations, or a measured table.
#pragma once

#include "common/diagnostics.hpp"
#include "jobs/job_work.hpp"
#include "jobs/workload.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// `throughput: {from: trace}`: each job runs for its recorded duration at the requested GPUs. A job without
/// a recorded duration is an error that names its line.
void resolve_throughput_from_trace(Workload& workload, Diagnostics& diagnostics);

/// A row of a measured table.
struct ProfileRow {
  std::string gpu; ///< empty when the table has no such column: any GPU
  std::string model;
  std::int32_t global_batch = 0; ///< 0 when the table has no such column: any batch
  GpuCount gpus;
  PerSecond rate;
  bool scattered = false; ///< the rate of a gang with each GPU on a node of its own
  std::size_t line = 0;
};

/// A measured throughput table (profile CSV: `model,gpus,iterations_per_s`, optional
/// `gpu,global_batch,placement`).
struct ThroughputProfile {
  std::string file;
  std::string sha256;
  std::vector<ProfileRow> rows;
};

/// Reads a profile. A rate that is empty, 0 or "nan" means "not available at this count" and is left out. Two
/// rows for the same key and placement are an error.
[[nodiscard]] ThroughputProfile read_throughput_profile(const std::filesystem::path& file,
                                                        Diagnostics& diagnostics);

/// `throughput: {profile: FILE}`: a job's speed is the table's curve for its model and global batch on `gpu`
/// (a GPU's name and aliases), with its scattered rows where a gang is on more nodes than it needs; those
/// that have no consolidated partner count for nothing, with a warning. Rows without these columns match any.
/// Its work is its iterations; a trace that has only a duration gets duration x rate(requested) iterations.
/// min_gpus and max_gpus stay as the trace has them. A job whose model, batch or requested GPU count the
/// table lacks is an error that names the job's line and what the table has. One wider than the cluster needs
/// no speed.
void resolve_throughput_from_profile(Workload& workload, const ThroughputProfile& profile,
                                     const std::vector<std::string>& gpu_names, Diagnostics& diagnostics,
                                     GpuCount cluster_gpus = kAnyWidth);

} // namespace vtrain
