// SPDX-License-Identifier: MIT
// Megatron-LM's command line as a model's shape and a parallel plan.
#pragma once

#include "common/diagnostics.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// What a file of Megatron-LM arguments says.
struct MegatronArguments {
  ModelShape model;
  /// The plan, with defaults for what the file does not say. The data-parallel degree follows from the number
  /// of GPUs: `data` is 1 unless `gpus` is known and the degrees that are given divide it.
  ParallelPlan plan;
  /// Settings of the plan that the file gives, by the keys of read_plan ("tp", "micro_batch", …), sorted.
  std::vector<std::string> given;
  /// torchrun's --nproc-per-node x --nnodes, where both are written as numbers.
  std::optional<std::int64_t> gpus;
};

/// Reads a shell script or a file of arguments: `--name value` and `--name=value`, over lines with
/// backslashes, with comments, quotes and arrays. `$NAME` is what the same file assigns to NAME. Arguments
/// that say nothing about shape or plan are passed over; one that is spelt nearly like a known one gets a
/// warning. `file` names the text in messages. The shape passes check_model if there were no errors.
[[nodiscard]] MegatronArguments read_megatron_arguments(std::string_view text, const std::string& file,
                                                        Diagnostics& diagnostics);

} // namespace vtrain
