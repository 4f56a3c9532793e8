// SPDX-License-Identifier: MIT
// The operators of a model under a plan: one layer of each kind, the embedding and the head, on one GPU, for
// one micro-batch.
#pragma once

#include "vtrain_core/graph/operator_graph.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"

#include <optional>

namespace vtrain {

/// The blocks a model is made of. Layers of a kind are identical, so each kind is here once.
struct ModelOperators {
  Block layer;              ///< a dense layer; `count` is 0 in a model where every layer is a mixture
  std::optional<Block> moe; ///< a layer with a mixture of experts
  Block embedding;
  Block head; ///< final norm, logits, loss

  [[nodiscard]] std::vector<Block> blocks() const;
};

/// Builds them for a possible plan. Forward, recomputed and backward operators follow Megatron-LM (arXiv
/// 2104.04473 section 3, arXiv 2205.05198 section 4): column-parallel QKV and first FFN matrix, row-parallel
/// projection and second FFN matrix, vocabulary-parallel embedding, logits and loss.
[[nodiscard]] ModelOperators model_operators(const ModelShape& model, const ParallelPlan& plan,
                                             const StackHabits& habits = {});

} // namespace vtrain
