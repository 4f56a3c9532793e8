// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/stage_work.hpp"

#include "vtrain_core/estimate/data_parallel.hpp"
#include "vtrain_core/graph/model_operators.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/rank_layout.hpp"

#include <algorithm>

namespace vtrain {
namespace {

/// Overlapped communication: what sticks out of the computation, and the slowdown that the hidden part
/// causes.
Seconds exposed(Seconds communication, Seconds computation, double interference) {
  return std::max(Seconds{}, communication - computation) +
         interference * std::min(communication, computation);
}

/// Prices blocks and adds up where the prices come from.
class BlockPricer {
public:
  BlockPricer(const RankLayout& layout, const ParallelPlan& plan, const WorkPricing& pricing)
      : pricing_{pricing.compute, pricing.collectives, layout, pricing.constants,
                 pipeline::splits_backward(plan.schedule)} {}

  BlockTime price(const Block& block, bool layer, OriginShares& origins) const {
    if (block.count == 0)
      return {};
    const std::vector<Price> prices = price_operators(block.graph, pricing_);
    for (std::size_t i = 0; i < prices.size(); ++i) {
      if (block.graph.operators()[i].kind == OperatorKind::collective)
        continue;
      const Seconds time = prices[i].time * block.count;
      origins.all += time;
      if (prices[i].origin == PriceOrigin::scaled)
        origins.scaled += time;
      if (prices[i].origin == PriceOrigin::extrapolated)
        origins.extrapolated += time;
    }
    return time_block(block.graph, prices, pricing_, layer);
  }

private:
  Pricing pricing_;
};

/// Deals the model's blocks to the stages.
class WorkBuilder {
public:
  WorkBuilder(const ModelShape& model, const ParallelPlan& plan, const WorkPricing& pricing,
              const BlockTimes& blocks)
      : model_(model),
        plan_(plan),
        blocks_(blocks),
        layout_(plan, pricing.node.gpus.value()),
        data_(plan, pricing.habits, layout_, pricing.collectives, pricing.node, pricing.constants),
        interference_(pricing.constants[Constant::overlap_interference]) {}

  [[nodiscard]] ChunkWork chunk(const StageContents& contents) const {
    ChunkWork out;
    add(out, blocks_.layer, contents.dense_layers);
    add(out, blocks_.mixture, contents.mixture_layers);
    if (contents.embedding)
      add(out, blocks_.embedding, 1);
    if (contents.head)
      add(out, blocks_.head, 1);
    if (pipeline::splits_backward(plan_.schedule))
      out.weight = out.backward.weight_gradient;
    out.accumulation = data_.accumulation(stage_parameters(contents, model_, plan_));
    if (data_.sharded())
      add_sharded(out, contents);
    return out;
  }

  [[nodiscard]] const RankLayout& layout() const { return layout_; }
  [[nodiscard]] const DataParallelCost& data() const { return data_; }
  [[nodiscard]] double interference() const { return interference_; }

private:
  static void add(ChunkWork& work, const BlockTime& block, double times) {
    work.forward += block.forward * times;
    work.recompute += block.recompute * times;
    work.backward += block.backward * times;
  }

  /// ZeRO-3 gathers each layer's parameters for each pass and scatters its gradients, beside the layer
  /// before. What is outside layers has nothing to hide behind, and stays gathered until its backward pass
  /// (PyTorch FSDP's root unit).
  void add_sharded(ChunkWork& work, const StageContents& contents) const {
    const auto layers = [&](const StageContents& one, const BlockTime& time, double count) {
      if (count == 0)
        return;
      const StageParameters parameters = stage_parameters(one, model_, plan_);
      const Seconds gather = data_.gather_for_pass(parameters);
      const Seconds backward =
          data_.scatter_of_pass(parameters) + (data_.gathers_again() ? gather : Seconds{});
      const Seconds under = time.backward.total() + time.recompute.total();
      work.data_forward +=
          count *
          (plan_.overlap_param_gather ? exposed(gather, time.forward.total(), interference_) : gather);
      work.data_backward +=
          count * (plan_.overlap_grad_reduce ? exposed(backward, under, interference_) : backward);
    };
    layers({.dense_layers = 1}, blocks_.layer, contents.dense_layers);
    layers({.mixture_layers = 1}, blocks_.mixture, contents.mixture_layers);
    StageContents outside = contents;
    outside.dense_layers = 0;
    outside.mixture_layers = 0;
    if (contents.embedding || contents.head) {
      const StageParameters parameters = stage_parameters(outside, model_, plan_);
      work.data_forward += data_.gather_for_pass(parameters);
      work.data_backward += data_.scatter_of_pass(parameters);
    }
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  const BlockTimes& blocks_;
  RankLayout layout_;
  DataParallelCost data_;
  double interference_;
};

/// Messages between virtual stages; 0 where there is none.
void fill_messages(const ModelShape& model, const ParallelPlan& plan, const WorkPricing& pricing,
                   const RankLayout& layout, pipeline::Problem<double>& problem) {
  const auto total = problem.forward.size();
  problem.send_forward.assign(total, 0.0);
  problem.send_backward.assign(total, 0.0);
  const bool synchronous_form = plan.schedule == pipeline::ScheduleKind::one_f_one_b ||
                                plan.schedule == pipeline::ScheduleKind::interleaved;
  problem.messages = plan.overlap_pipeline ? pipeline::Messages::link
                     : synchronous_form    ? pipeline::Messages::exchange
                                           : pipeline::Messages::blocking;
  if (plan.pipeline == 1)
    return;
  const double tokens = tokens_of_micro_batch(model, plan);
  const bool split = pricing.habits.scatters_messages || plan.sequence_parallel;
  const Bytes bytes{2.0 * tokens * static_cast<double>(model.hidden) / (split ? plan.tensor : 1)};
  const Seconds inside = pricing.collectives.message(bytes, false);
  const Seconds across = pricing.collectives.message(bytes, true);
  for (int stage = 0; stage < problem.stages; ++stage) {
    const int next = (stage + 1) % problem.stages;
    const double seconds = (layout.crosses_nodes(stage, next) ? across : inside).base();
    for (int chunk = 0; chunk < problem.chunks; ++chunk) {
      const int part = chunk * problem.stages + stage; // of the model
      if (part + 1 == problem.stages * problem.chunks)
        continue;
      const int next_chunk = (part + 1) / problem.stages;
      problem.send_forward[static_cast<std::size_t>(stage * problem.chunks + chunk)] = seconds;
      problem.send_backward[static_cast<std::size_t>(next * problem.chunks + next_chunk)] = seconds;
    }
  }
}

/// Reductions that run in buckets under the last backward passes, and what is left for the end of the stage.
class TailBuilder {
public:
  TailBuilder(const ModelShape& model, const ParallelPlan& plan, const WorkBuilder& builder,
              const std::vector<StageContents>& contents, pipeline::Problem<double>& problem)
      : model_(model),
        plan_(plan),
        builder_(builder),
        data_(builder.data()),
        contents_(contents),
        problem_(problem),
        bucketed_(plan.overlap_grad_reduce && !data_.sharded() && builder.layout().replicas().ranks > 1) {
    problem.buckets = 0;
    problem.all_reduce.clear();
    if (!bucketed_)
      return;
    for (const StageContents& chunk : contents)
      problem.buckets = std::max(problem.buckets, data_.buckets(stage_parameters(chunk, model, plan)));
    problem.all_reduce.resize(contents.size() * static_cast<std::size_t>(problem.buckets));
  }

  StageTail tail(int stage) {
    StageTail out;
    StageParameters all;
    for (int chunk = 0; chunk < problem_.chunks; ++chunk) {
      const auto at = static_cast<std::size_t>(stage * problem_.chunks + chunk);
      const StageParameters parameters = stage_parameters(contents_[at], model_, plan_);
      all.dense += parameters.dense;
      all.expert += parameters.expert;
      if (bucketed_)
        out.data_comm += fill_buckets(at, parameters);
    }
    if (!bucketed_)
      out.data_comm += data_.reduce(all);
    if (!bucketed_ || plan_.zero >= 1)
      out.data_comm += gather(stage, all);
    const bool tied = model_.tied_embeddings && plan_.pipeline > 1;
    if (tied && (stage == 0 || stage + 1 == problem_.stages)) {
      const double copy = stage_parameters({.head = true}, model_, plan_).dense;
      out.data_comm += data_.tied_embedding(copy, builder_.layout().crosses_nodes(0, problem_.stages - 1));
    }
    out.optimizer = data_.optimizer(all);
    return out;
  }

private:
  /// Returns the slowdown of the backward pass that hides the reduction. It hides all buckets but the last,
  /// and nothing before the first is full.
  Seconds fill_buckets(std::size_t at, StageParameters parameters) {
    const int buckets = problem_.buckets;
    parameters.dense /= buckets;
    parameters.expert /= buckets;
    const Seconds one = data_.reduce(parameters) + (plan_.zero == 0 ? data_.gather(parameters) : Seconds{});
    for (int j = 0; j < buckets; ++j)
      problem_.all_reduce[at * static_cast<std::size_t>(buckets) + static_cast<std::size_t>(j)] = one.base();
    const double hidden = (buckets - 1.0) / buckets;
    const Seconds last{problem_.weight.empty() ? problem_.backward[at] : problem_.weight[at]};
    return builder_.interference() * hidden * std::min(one * buckets, last);
  }

  /// The updated parameters come back under the next iteration's first forward pass, or before it.
  [[nodiscard]] Seconds gather(int stage, const StageParameters& all) const {
    const Seconds time = data_.gather(all);
    if (!plan_.overlap_param_gather || plan_.zero == 0)
      return time;
    const auto first = static_cast<std::size_t>(stage * problem_.chunks);
    return exposed(time, Seconds(problem_.forward[first]), builder_.interference());
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  const WorkBuilder& builder_;
  const DataParallelCost& data_;
  const std::vector<StageContents>& contents_;
  pipeline::Problem<double>& problem_;
  bool bucketed_;
};
} // namespace

BlockKey::BlockKey(const ParallelPlan& plan, const RankLayout& layout)
    : tensor(plan.tensor),
      context(plan.context),
      expert(plan.expert),
      micro_batch(plan.micro_batch),
      recompute(plan.recompute),
      splits_backward(pipeline::splits_backward(plan.schedule)),
      sequence_parallel(plan.sequence_parallel),
      tensor_layout(layout.tensor()),
      context_layout(layout.context()),
      expert_layout(layout.expert()) {}

BlockTimes block_times(const ModelShape& model, const ParallelPlan& plan, const WorkPricing& pricing) {
  const RankLayout layout(plan, pricing.node.gpus.value());
  const BlockPricer pricer(layout, plan, pricing);
  const ModelOperators operators = model_operators(model, plan, pricing.habits);
  BlockTimes out;
  out.layer = pricer.price(operators.layer, true, out.origins);
  if (operators.moe)
    out.mixture = pricer.price(*operators.moe, true, out.origins);
  out.embedding = pricer.price(operators.embedding, false, out.origins);
  out.head = pricer.price(operators.head, false, out.origins);
  return out;
}

void work_of_iteration(const ModelShape& model, const ParallelPlan& plan, const WorkPricing& pricing,
                       const BlockTimes& blocks, IterationWork& work, pipeline::Problem<double>& problem) {
  work.origins = blocks.origins;
  const WorkBuilder builder(model, plan, pricing, blocks);
  const std::vector<StageContents> contents = stage_contents(model, plan);
  problem.stages = plan.pipeline;
  problem.chunks = plan.virtual_stages;
  problem.micro_batches = static_cast<int>(plan.micro_batches());
  problem.kind = plan.schedule;
  work.chunks.clear();
  problem.forward.clear();
  problem.backward.clear();
  problem.weight.clear();
  for (const StageContents& one : contents) {
    const ChunkWork chunk = builder.chunk(one);
    problem.forward.push_back((chunk.forward.total() + chunk.data_forward).base());
    problem.backward.push_back((chunk.recompute.total() + chunk.backward.total() + chunk.data_backward +
                                (pipeline::splits_backward(plan.schedule) ? Seconds{} : chunk.accumulation))
                                   .base());
    if (pipeline::splits_backward(plan.schedule))
      problem.weight.push_back((chunk.weight + chunk.accumulation).base());
    work.chunks.push_back(chunk);
  }
  fill_messages(model, plan, pricing, builder.layout(), problem);
  TailBuilder tails(model, plan, builder, contents, problem);
  work.tails.clear();
  problem.optimizer.clear();
  for (int stage = 0; stage < plan.pipeline; ++stage) {
    work.tails.push_back(tails.tail(stage));
    problem.optimizer.push_back((work.tails.back().data_comm + work.tails.back().optimizer).base());
  }
}

} // namespace vtrain
