// SPDX-License-Identifier: MIT
// What to change about a plan that does not fit in memory.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace vtrain {

/// Half a sentence such as "--recompute full would need 56.1 GiB, --zero 1 71.8 GiB": the single changes of
/// the plan that fit, or else the shortest way there that was found. Empty when nothing helps. `gpus` is the
/// number of GPUs there are, if it is limited; changes keep the number of GPUs where they can.
[[nodiscard]] std::string memory_advice(const ModelShape& model, const ParallelPlan& plan,
                                        const NodeType& node, std::optional<std::int64_t> gpus);

/// "79.1 GiB"
[[nodiscard]] std::string gibibytes(Bytes size);

} // namespace vtrain
