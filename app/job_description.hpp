// SPDX-License-Identifier: MIT
// One training job as `vtrain estimate` is asked about it: from a job file, from flags, or from both.
#pragma once

#include "app/job_flags.hpp"
#include "common/diagnostics.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// What prices operators (see cost_model.hpp).
enum class CostKind : std::uint8_t { analytic, profiled, blended };

/// A job, and what to estimate it with.
struct JobDescription {
  ModelShape model;
  std::string platform; ///< name of the node type or cluster
  NodeType node;
  std::optional<std::int64_t> gpus; ///< of the cluster, if one was named
  double oversubscription = 1.0;    ///< of the cluster's fabric
  ParallelPlan plan;
  SourceLocation plan_where; ///< of the plan in the job file; empty if it was given by flags
  SoftwareStack stack;
  std::optional<std::string> calibration; ///< a name or a path; none: what suits the job
  SourceLocation calibration_where;
  std::optional<std::filesystem::path> collectives;
  std::optional<std::filesystem::path> profile;
  CostKind cost = CostKind::analytic;
};

/// Reads `file`, if there is one, with the flags set over it:
///
///     model: gpt3-175b              # a name, a file, or a map of its shape
///     platform: dgx-a100-80g        # a node type, a cluster, a cluster's file, or a map of one
///     sequence_length: 2048
///     stack: megatron-lm
///     plan: {tp: 8, pp: 16, dp: 4, micro_batch: 2, global_batch: 1536, recompute: full}
///
/// and calibration, collectives, profile and cost as in the flags. Paths in the file are relative to it. The
/// plan's defaults are Megatron-LM's with the overlaps of the stack; whether it is possible is not checked.
/// Throws InputError with everything that is wrong, IoError when the file cannot be read.
[[nodiscard]] JobDescription read_job(const std::optional<std::string>& file, const JobFlags& flags,
                                      const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);

/// The same from a tree that was read already; relative paths that do not come from flags are relative to
/// `base`.
[[nodiscard]] JobDescription read_job_tree(const ConfigNode& root, const std::filesystem::path& base,
                                           const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);

/// Throws InputError with every fault of the plan, and with the nearest plan that is possible.
void check_plan_of(const JobDescription& job);

} // namespace vtrain
