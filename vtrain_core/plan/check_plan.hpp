// SPDX-License-Identifier: MIT
// Whether a plan is possible for a model on nodes of a kind, and what follows from it.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// Every constraint that the plan breaks, one sentence each (without a final full stop), in a fixed order;
/// empty for a possible plan. `gpus` is the number of GPUs there are, if it is limited.
[[nodiscard]] std::vector<std::string> plan_faults(const ModelShape& model, const ParallelPlan& plan,
                                                   const Gpu& gpu, std::optional<std::int64_t> gpus = {});

/// The possible plan that is nearest to an impossible one (degrees moved least, as a ratio, the global batch
/// rounded); none if no degree helps (an impossible shape).
[[nodiscard]] std::optional<ParallelPlan> nearest_plan(const ModelShape& model, const ParallelPlan& plan,
                                                       const Gpu& gpu, std::optional<std::int64_t> gpus = {});

/// The vocabulary padded to a multiple of 128 x tensor-parallel degree, as Megatron-LM does.
[[nodiscard]] std::int64_t padded_vocab(const ModelShape& model, const ParallelPlan& plan);

/// Layers of each virtual stage, in model order (size pipeline x virtual_stages). Without stage_layers they
/// are as even as possible: the stages in the middle take one more when the layers do not divide.
[[nodiscard]] std::vector<std::int32_t> layers_of_stages(const ModelShape& model, const ParallelPlan& plan);

/// Tokens of a micro-batch on one GPU, before sequence parallelism splits them.
[[nodiscard]] double tokens_of_micro_batch(const ModelShape& model, const ParallelPlan& plan);

/// Over how many ranks norms, dropouts and residuals are split: tensor-parallel ranks under sequence
/// parallelism, 1 without.
[[nodiscard]] double sequence_split(const ParallelPlan& plan);

/// The plan as text such as "tp8 pp16 dp4 mb2".
[[nodiscard]] std::string describe(const ParallelPlan& plan);

} // namespace vtrain
