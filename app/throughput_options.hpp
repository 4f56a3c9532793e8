// SPDX-License-Identifier: MIT
// Where the speeds of an experiment's jobs come from: `workload.throughput` of the experiment file.
#pragma once

#include "common/config.hpp"
#include "common/diagnostics.hpp"
#include "jobs/core_throughput.hpp"
#include "jobs/workload.hpp"
#include "platforms/platform.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The section, checked.
struct ThroughputOptions {
  enum class Source : std::uint8_t { trace, profile, vtrain } source = Source::trace;
  std::filesystem::path profile; ///< source profile

  CurvePlans plans = CurvePlans::best; ///< source vtrain, as all that follows
  std::string stack;
  std::optional<std::string> calibration; ///< a name or a file; none: what suits the GPU
  SourceLocation calibration_where;
  std::filesystem::path cache; ///< folder of predicted curves; empty: none are kept

  /// Files beside the trace that the result depends on.
  [[nodiscard]] std::vector<std::filesystem::path> input_files() const;
};

/// Finds the path that a key names and records it in full.
using PathResolver =
    std::function<std::filesystem::path(ConfigReader& reader, std::string_view key, const std::string& text)>;

/// Reads `throughput: {from: trace | profile | vtrain, profile: FILE, plans: best | data_parallel_only,
/// stack: NAME, calibration: NAME|FILE, cache: default | none | FOLDER}`. A profile implies its source; keys
/// of another source are errors.
[[nodiscard]] ThroughputOptions read_throughput_options(ConfigReader& reader, const PathResolver& resolve);

/// Gives every job of the workload its speed. Errors go to `diagnostics`.
void resolve_throughput(const ThroughputOptions& options, const Cluster& cluster, Workload& workload,
                        bool show_progress, Diagnostics& diagnostics);

} // namespace vtrain
