// SPDX-License-Identifier: MIT
// The time of one pass over a block: its operators on one GPU's streams.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/cost/collectives.hpp"
#include "vtrain_core/cost/cost_model.hpp"
#include "vtrain_core/graph/operator_graph.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"
#include "vtrain_core/plan/rank_layout.hpp"

#include <array>
#include <vector>

namespace vtrain {

/// Where the time of a pass goes. All are parts of the critical path; they add up to the time of the pass.
struct PassTime {
  Seconds compute;         ///< kernels, back to back
  Seconds launch;          ///< the host cannot launch kernels fast enough: what is missing to its floor
  Seconds tensor;          ///< exposed communication of the tensor-parallel group
  Seconds context;         ///< exposed communication of the context-parallel group
  Seconds expert;          ///< exposed communication of the expert-parallel group
  Seconds weight_gradient; ///< the part of `compute` that a zero-bubble schedule may put off

  [[nodiscard]] Seconds total() const { return compute + launch + tensor + context + expert; }
  PassTime& operator+=(const PassTime& other);
  friend PassTime operator*(const PassTime& time, double times);
};

/// The passes over a block.
struct BlockTime {
  PassTime forward;
  PassTime recompute;
  PassTime backward;
};

/// What passes are priced with.
struct Pricing {
  const CostModel& compute;
  const Collectives& collectives;
  const RankLayout& layout;
  const ConstantValues& constants;
  bool defer_weight_gradient =
      false; ///< weight gradients are no part of the critical path of a backward pass
};

/// Prices the operators of a graph, each distinct one once; index as in the graph. Collectives in isolation.
[[nodiscard]] std::vector<Price> price_operators(const OperatorGraph& graph, const Pricing& pricing);

/// Plays each pass on a compute stream and one stream for each group, operators in order, and sees what waits
/// for what. A collective beside a computation slows both by overlap_interference times the shorter of the
/// two. `layer`: the launch floor of a transformer layer applies.
[[nodiscard]] BlockTime time_block(const OperatorGraph& graph, const std::vector<Price>& prices,
                                   const Pricing& pricing, bool layer);

/// One pass as a chain of pieces on the critical path: each compute operator, and each wait for a collective.
/// They sum to the pass without its launch floor.
[[nodiscard]] std::vector<pipeline::Piece> pass_pieces(const OperatorGraph& graph,
                                                       const std::vector<Price>& prices,
                                                       const Pricing& pricing, Phase phase);

} // namespace vtrain
