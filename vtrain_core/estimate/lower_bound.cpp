// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/lower_bound.hpp"

#include "vtrain_core/estimate/straggler.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vtrain {
namespace {

constexpr double kRounding = 1e-9;

Seconds passes(const BlockTime& block) {
  return block.forward.total() + block.recompute.total() + block.backward.total();
}

/// The layer that takes less, where a model has two kinds.
Seconds cheapest_layer(const ModelShape& model, const BlockTimes& blocks) {
  if (!model.moe)
    return passes(blocks.layer);
  const Seconds mixture = passes(blocks.mixture);
  return model.moe->every == 1 ? mixture : std::min(mixture, passes(blocks.layer));
}

} // namespace

LayerSpread layer_spread(const ModelShape& model, const ParallelPlan& plan) {
  const std::vector<std::int32_t> layers = layers_of_stages(model, plan);
  const auto stages = static_cast<std::size_t>(plan.pipeline);
  LayerSpread out;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::int32_t held = 0;
    for (std::size_t part = stage; part < layers.size(); part += stages)
      held += layers[part];
    out.fullest = std::max(out.fullest, held);
    if (stage + 1 == stages)
      out.last = held;
    else
      out.first_chunks += layers[stage];
  }
  return out;
}

Seconds time_lower_bound(const ModelShape& model, const ParallelPlan& plan, const BlockTimes& blocks,
                         const LayerSpread& spread, const ConstantValues& constants) {
  const Seconds layer = cheapest_layer(model, blocks);
  const auto micro_batches = static_cast<double>(plan.micro_batches());
  const Seconds fullest = layer * (micro_batches * spread.fullest);
  const Seconds embedding = passes(blocks.embedding);
  const Seconds last_stage =
      layer * spread.last + passes(blocks.head) + (plan.pipeline == 1 ? embedding : Seconds{});
  const Seconds before = layer * spread.first_chunks + (plan.pipeline == 1 ? Seconds{} : embedding);
  const Seconds computed = std::max(fullest, last_stage * micro_batches + before);
  const Seconds bound = computed * (1.0 + straggler_slowdown(constants, plan)) +
                        Seconds(constants[Constant::iteration_overhead]);
  return bound * (1.0 - kRounding);
}

} // namespace vtrain
