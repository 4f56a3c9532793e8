// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/phase_time.hpp"
#include "vtrain_core/estimate/stage_work.hpp"
#include "vtrain_core/graph/model_operators.hpp"
#include "vtrain_core/plan/rank_layout.hpp"

#include <cstddef>
#include <utility>

namespace vtrain {
namespace {

using Pieces = std::vector<pipeline::Piece>;

/// The passes of one block as chains of pieces.
struct BlockPieces {
  Pieces forward;
  Pieces backward; ///< recomputation first
  Pieces weight;
};

BlockPieces pieces_of(const Block& block, const Pricing& pricing) {
  BlockPieces out;
  const std::vector<Price> prices = price_operators(block.graph, pricing);
  out.forward = pass_pieces(block.graph, prices, pricing, Phase::forward);
  out.backward = pass_pieces(block.graph, prices, pricing, Phase::recompute);
  const Pieces backward = pass_pieces(block.graph, prices, pricing, Phase::backward);
  out.backward.insert(out.backward.end(), backward.begin(), backward.end());
  if (pricing.defer_weight_gradient)
    for (std::size_t i = 0; i < prices.size(); ++i)
      if (block.graph.operators()[i].weight_gradient)
        out.weight.push_back({prices[i].time.base(), false});
  return out;
}

void repeat(Pieces& to, const Pieces& from, int times) {
  for (int i = 0; i < times; ++i)
    to.insert(to.end(), from.begin(), from.end());
}

/// What a pass has beyond its operators: launch floor and accumulation compute, gathers and scatters
/// communicate.
void add_rest(Pieces& to, Seconds compute, Seconds communication) {
  if (compute > Seconds{})
    to.push_back({compute.base(), false});
  if (communication > Seconds{})
    to.push_back({communication.base(), true});
}
} // namespace

pipeline::OperationDetail operation_detail(const ModelShape& model, const ParallelPlan& plan,
                                           const WorkPricing& pricing) {
  const bool split = pipeline::splits_backward(plan.schedule);
  const RankLayout layout(plan, pricing.node.gpus.value());
  const Pricing prices{pricing.compute, pricing.collectives, layout, pricing.constants, split};
  const ModelOperators operators = model_operators(model, plan, pricing.habits);
  const BlockPieces layer = pieces_of(operators.layer, prices);
  const BlockPieces mixture = operators.moe ? pieces_of(*operators.moe, prices) : BlockPieces{};
  const BlockPieces embedding = pieces_of(operators.embedding, prices);
  const BlockPieces head = pieces_of(operators.head, prices);
  IterationWork work;
  pipeline::Problem<double> problem;
  work_of_iteration(model, plan, pricing, block_times(model, plan, pricing), work, problem);
  pipeline::OperationDetail out;
  const std::vector<StageContents> contents = stage_contents(model, plan);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const StageContents& one = contents[i];
    const ChunkWork& chunk = work.chunks[i];
    const auto compose = [&](Pieces BlockPieces::*pass) {
      Pieces pieces;
      repeat(pieces, embedding.*pass, one.embedding ? 1 : 0);
      repeat(pieces, layer.*pass, one.dense_layers);
      repeat(pieces, mixture.*pass, one.mixture_layers);
      repeat(pieces, head.*pass, one.head ? 1 : 0);
      return pieces;
    };
    out.forward.push_back(compose(&BlockPieces::forward));
    add_rest(out.forward.back(), chunk.forward.launch, chunk.data_forward);
    out.backward.push_back(compose(&BlockPieces::backward));
    const Seconds launch = chunk.recompute.launch + chunk.backward.launch;
    add_rest(out.backward.back(), split ? launch : launch + chunk.accumulation, chunk.data_backward);
    if (split) {
      out.weight.push_back(compose(&BlockPieces::weight));
      add_rest(out.weight.back(), chunk.accumulation, {});
    }
  }
  return out;
}

} // namespace vtrain
