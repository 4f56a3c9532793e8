// SPDX-License-Identifier: MIT
#include "jobs/core_throughput.hpp"

#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace vtrain {
namespace {

/// Grows when curves are made in another way: other plans are searched, other nodes stand for spread gangs.
constexpr int kCurveVersion = 1;

/// A node of which a gang has `gpus` GPUs, with their share of its network.
NodeType part_of(const NodeType& node, std::int32_t gpus) {
  NodeType part = node;
  part.gpus = GpuCount(gpus);
  part.network = node.network * (static_cast<double>(gpus) / node.gpus.value());
  return part;
}

/// Times and memory of plans that every feature of the estimate takes part in. They stand for the code in the
/// keys of the cache: when it computes something else, kept curves are not used.
std::string fingerprint(const NodeType& node, const ConstantValues& constants, const SoftwareStack& stack) {
  ModelShape model;
  model.layers = 24;
  model.hidden = 4096;
  model.heads = model.kv_heads = 32;
  model.head_dim = 128;
  model.ffn_hidden = 16384;
  model.vocab = 50257;
  model.sequence_length = 2048;
  ParallelPlan plan = usual_plan(stack, node.gpu);
  plan.global_batch = 64;
  ParallelPlan wide = plan;
  wide.tensor = 8;
  wide.pipeline = 4;
  wide.data = 2;
  wide.zero = 1;
  wide.sequence_parallel = true;
  ParallelPlan chunks = wide;
  chunks.virtual_stages = 3;
  chunks.schedule = pipeline::ScheduleKind::interleaved;
  chunks.recompute = Recompute::full;
  ParallelPlan sharded = plan;
  sharded.data = 32;
  sharded.zero = 3;
  Estimator estimator(node, constants, stack.habits);
  std::string out;
  for (const ParallelPlan& one : {plan, wide, chunks, sharded})
    out += fmt::format("{} {}\n", estimator.time(model, one).base(), peak_memory(model, one).base());
  return out;
}

std::string shape_text(const ModelShape& m) {
  std::string out = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}", m.layers, m.hidden, m.heads,
                                m.kv_heads, m.head_dim, m.ffn_hidden, m.vocab, m.sequence_length, m.gated_ffn,
                                m.parallel_block, m.tied_embeddings, m.learned_positions, m.rotary, m.biases);
  if (m.moe)
    out += fmt::format(" {} {} {} {} {}", m.moe->experts, m.moe->top_k, m.moe->capacity_factor,
                       m.moe->shared_experts, m.moe->every);
  return out;
}

std::string node_text(const NodeType& node) {
  const Gpu& gpu = node.gpu;
  return fmt::format("{} x {} {} {} {} {} {} {} {} {}, {}", node.gpus.value(), gpu.name, gpu.peak_fp16.base(),
                     gpu.peak_fp8 ? gpu.peak_fp8->base() : 0.0, gpu.bf16, gpu.multiprocessors,
                     gpu.memory.base(), gpu.memory_bandwidth.base(), gpu.nvlink.base(), gpu.host_link.base(),
                     node.network.base());
}

} // namespace

std::string CoreThroughput::describe_inputs(const ModelShape& model, const PlanSpace& space) const {
  const NodeType& node = setup_.cluster.node;
  std::string out = fmt::format("curve {}\n{}\n{}\n{}\nplans {}\ncounts {}\n", kCurveVersion,
                                shape_text(model), node_text(node), setup_.stack.name,
                                static_cast<int>(setup_.plans), fmt::join(space.gpu_counts, ","));
  out += "most " + std::to_string(space.most_gpus) + "\n";
  for (std::size_t i = 0; i < kConstants; ++i)
    out += fmt::format("{}\n", setup_.calibration.values[static_cast<Constant>(i)]);
  for (const ConfigNode::Entry& entry : plan_to_config(space.base).entries)
    out += fmt::format("{} {}\n", entry.key, entry.value.scalar);
  return out + fingerprint(node, setup_.calibration.values, setup_.stack);
}

PredictedCurve CoreThroughput::predict(std::string_view name, std::int64_t global_batch,
                                       std::span<const GpuCount> counts) {
  const ModelShape* const model = setup_.models.find(name);
  if (model == nullptr)
    return {{}, {}, fmt::format("unknown model '{}'", name), setup_.models.suggestion(name)};
  const NodeType& node = setup_.cluster.node;
  PlanSpace space;
  space.base = usual_plan(setup_.stack, node.gpu);
  space.base.global_batch = global_batch;
  space.most_gpus = setup_.cluster.gpus().value();
  for (std::int32_t tensor = 1; tensor <= node.gpus.value(); tensor *= 2)
    space.tensor.push_back(tensor);
  for (const GpuCount count : counts)
    if (count <= setup_.cluster.gpus())
      space.gpu_counts.push_back(count.value());
  const std::string inputs = describe_inputs(*model, space);
  if (auto kept = setup_.cache.find(inputs))
    return *std::move(kept);
  if (setup_.progress)
    setup_.progress(name);
  PredictedCurve curve = search(*model, space);
  setup_.cache.keep(inputs, curve);
  return curve;
}

PredictedCurve CoreThroughput::search(const ModelShape& model, const PlanSpace& space) const {
  const NodeType& node = setup_.cluster.node;
  PlanSpace any_count = space;
  any_count.gpu_counts.clear();
  PredictedCurve curve;
  const auto smallest = smallest_fitting_plan(model, node, any_count);
  if (!smallest)
    return curve;
  curve.smallest = GpuCount(static_cast<std::int32_t>(smallest->gpus()));
  if (space.gpu_counts.empty())
    return curve;
  add_levels(model, setup_.plans == CurvePlans::best ? space : scaled_space(model, space), curve);
  return curve;
}

std::vector<FoundPlan> CoreThroughput::fastest(const ModelShape& model, const PlanSpace& space,
                                               const NodeType& node) const {
  SearchRequest request;
  request.top = 0;
  request.frontier = false;
  request.by_gpu_count = true;
  request.threads = setup_.threads;
  return search_plans(model, space, {node, setup_.calibration.values, setup_.stack.habits}, request)
      .by_gpu_count;
}

/// The space of one plan and its replicas: the plan that is best on the fewest GPUs that are asked for and
/// enough.
PlanSpace CoreThroughput::scaled_space(const ModelShape& model, const PlanSpace& space) const {
  const std::vector<FoundPlan> found = fastest(model, space, setup_.cluster.node);
  if (found.empty())
    return space; // there is no level either
  const ParallelPlan& plan = found.front().plan;
  PlanSpace out = space;
  out.tensor = {plan.tensor};
  out.sequence_parallel = {plan.sequence_parallel};
  out.context = {plan.context};
  out.expert = {plan.expert};
  out.pipeline = {plan.pipeline};
  out.virtual_stages = {plan.virtual_stages};
  out.micro_batch = {plan.micro_batch};
  out.recompute = {plan.recompute};
  out.zero = {plan.zero};
  return out;
}

void CoreThroughput::add_levels(const ModelShape& model, const PlanSpace& space,
                                PredictedCurve& curve) const {
  const NodeType& node = setup_.cluster.node;
  for (std::int32_t part = node.gpus.value(); part >= 1; part /= 2)
    for (const FoundPlan& found : fastest(model, space, part_of(node, part))) {
      const auto gpus = static_cast<std::int32_t>(found.plan.gpus());
      if (part < node.gpus.value() && part >= gpus)
        continue; // so few GPUs are on one node then
      curve.levels.push_back(
          {GpuCount(gpus), std::min(part, gpus), PerSecond(1.0 / found.time.base()), describe(found.plan)});
    }
  std::ranges::stable_sort(curve.levels, {}, [](const PredictedLevel& level) { return level.gpus; });
}

} // namespace vtrain
