// SPDX-License-Identifier: MIT
// What follows from a plan: padded vocabulary, layers of each stage, possible batches, its short description.
#include "common/assert.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_rules.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace vtrain {

bool is_permutation(const std::array<ParallelAxis, 5>& order) {
  const std::array<ParallelAxis, 5> all = ParallelPlan{}.rank_order;
  return std::ranges::is_permutation(order, all);
}

std::optional<std::int64_t> batch_unit(const ParallelPlan& plan) {
  // Each factor is below 2^31, so a product of two fits 64 bits.
  const std::int64_t samples = std::int64_t{plan.data} * std::min(plan.micro_batch, kMostSamples + 1);
  if (samples > kMostSamples)
    return std::nullopt;
  const bool interleaves = plan.schedule == pipeline::ScheduleKind::interleaved;
  const std::int64_t unit = samples * (interleaves ? plan.pipeline : 1);
  return unit > kMostSamples ? std::nullopt : std::optional(unit);
}

std::vector<std::int64_t> nearest_batches(const ParallelPlan& plan) {
  const std::optional<std::int64_t> unit = batch_unit(plan);
  if (!unit)
    return {};
  // The forwards of a stage, one for each of its chunks, are counted in 32 bits.
  const std::int64_t most_micro_batches = kMostSamples / plan.virtual_stages;
  const std::int64_t most = std::min(kMostSamples, plan.data * plan.micro_batch * most_micro_batches);
  const std::int64_t below = std::clamp(plan.global_batch, std::int64_t{0}, most) / *unit * *unit;
  std::vector<std::int64_t> batches;
  if (below > 0)
    batches.push_back(below);
  if (below != plan.global_batch && below + *unit <= most)
    batches.push_back(below + *unit);
  return batches;
}

std::int64_t padded_vocab(const ModelShape& model, const ParallelPlan& plan) {
  constexpr std::int64_t kMultiple = 128;
  const std::int64_t unit = kMultiple * plan.tensor;
  return (model.vocab + unit - 1) / unit * unit;
}

double tokens_of_micro_batch(const ModelShape& model, const ParallelPlan& plan) {
  return static_cast<double>(plan.micro_batch) * static_cast<double>(model.sequence_length) / plan.context;
}

double sequence_split(const ParallelPlan& plan) {
  return plan.sequence_parallel ? plan.tensor : 1;
}

std::vector<std::int32_t> layers_of_stages(const ModelShape& model, const ParallelPlan& plan) {
  if (!plan.stage_layers.empty())
    return plan.stage_layers;
  const std::int64_t stages = std::int64_t{plan.pipeline} * plan.virtual_stages;
  VTRAIN_ASSERT(stages >= 1 && stages <= model.layers, "a possible plan has a layer for each stage");
  const std::int64_t extra = model.layers % stages;
  std::vector<std::int32_t> layers(static_cast<std::size_t>(stages),
                                   static_cast<std::int32_t>(model.layers / stages));
  // The first stage holds the embedding and the last the logits; so the others take one more.
  const auto first = layers.begin() + (stages - extra) / 2;
  std::for_each(first, first + extra, [](std::int32_t& count) { ++count; });
  return layers;
}

std::string describe(const ParallelPlan& plan) {
  std::string text = fmt::format("tp{}", plan.tensor);
  const auto out = std::back_inserter(text);
  if (plan.context != 1)
    fmt::format_to(out, " cp{}", plan.context);
  if (plan.expert != 1)
    fmt::format_to(out, " ep{}", plan.expert);
  fmt::format_to(out, " pp{} dp{}", plan.pipeline, plan.data);
  if (plan.virtual_stages != 1)
    fmt::format_to(out, " vs{}", plan.virtual_stages);
  fmt::format_to(out, " mb{}", plan.micro_batch);
  if (plan.sequence_parallel)
    text += " sp";
  if (plan.zero != 0)
    fmt::format_to(out, " zero{}", plan.zero);
  if (plan.recompute != Recompute::none)
    fmt::format_to(out, " recompute-{}", to_string(plan.recompute));
  return text;
}

} // namespace vtrain
