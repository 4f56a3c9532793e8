// SPDX-License-Identifier: MIT
// What holds for the memory of any plan, over random ones; and plans that nobody can have trained.
#include "common/random.hpp"
#include "tests/vtrain_core/memory_shapes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

class Draw {
public:
  template <class T> T of(std::initializer_list<T> values) {
    return values.begin()[stream_.below(values.size())];
  }

  ModelShape model() {
    ModelShape model = of({0, 1}) == 0 ? gpt(24, 2048, 16, 50257) : mixture();
    model.tied_embeddings = of({true, false});
    model.parallel_block = of({true, false});
    model.learned_positions = of({true, false});
    if (model.moe) {
      model.moe->every = of({1, 2, 4});
      model.moe->shared_experts = of({0, 1});
    } else {
      model.kv_heads = of({2, 8, 16});
    }
    return model;
  }

  /// A possible plan for the model.
  ParallelPlan plan(const ModelShape& model) {
    for (;;) {
      ParallelPlan plan =
          megatron(of({1, 2, 4, 8}), of({1, 2, 4, 8}), of({1, 2, 8}), of({1, 2, 4}), of({8, 16, 24}));
      plan = interleaved(plan, of({1, 1, 2, 3}));
      if (plan.virtual_stages == 1)
        plan.schedule = of({pipeline::ScheduleKind::one_f_one_b, pipeline::ScheduleKind::gpipe,
                            pipeline::ScheduleKind::zb_h1});
      plan.context = of({1, 1, 2});
      plan.expert = model.moe ? of({1, 2, 4}) : 1;
      plan.sequence_parallel = of({true, false});
      plan.recompute = of({Recompute::none, Recompute::selective, Recompute::full});
      plan.attention = of({AttentionKernel::plain, AttentionKernel::flash});
      plan.precision = of({Precision::fp16, Precision::bf16, Precision::fp8});
      plan.zero = of({0, 1, 2, 3});
      plan.cpu_offload = plan.zero > 0 && of({true, false});
      if (plan_faults(model, plan, a100()).empty())
        return plan;
    }
  }

private:
  RandomStream stream_ = RandomStreams(1).stream("plans");
};

constexpr int kDraws = 500;

double real(std::int64_t value) {
  return static_cast<double>(value);
}

double mixtures(const ModelShape& model) {
  return model.moe ? real(model.layers / model.moe->every) : 0.0;
}

/// Parameters that tensor-parallel ranks beyond the first hold again.
double replicas(const ModelShape& model, const ParallelPlan& plan) {
  const double hidden = real(model.hidden);
  const double norms = (model.parallel_block ? 1.0 : 2.0) * real(model.layers) + 1;
  const double dense = real(model.layers) - mixtures(model);
  double again = norms * hidden * (model.biases ? 2.0 : 1.0);
  if (model.biases) // mixtures here have none
    again += (real(model.layers) + dense) * hidden;
  if (model.learned_positions)
    again += real(model.sequence_length) * hidden;
  if (model.moe)
    again += mixtures(model) * hidden * real(model.moe->experts);
  again *= plan.tensor - 1;
  const double key_values =
      real(model.layers) * 2 * real(model.kv_heads * model.head_dim) * (hidden + (model.biases ? 1.0 : 0.0));
  return again +
         key_values * (real(std::max<std::int64_t>(plan.tensor, model.kv_heads)) / real(model.kv_heads) - 1);
}

/// Parameters of embedding and logits beyond the model's own: padding, the second copy of a tied matrix.
double vocabulary_extra(const ModelShape& model, const ParallelPlan& plan) {
  const double hidden = real(model.hidden);
  const double padded = real(padded_vocab(model, plan)) * hidden;
  const double copies = model.tied_embeddings && plan.pipeline == 1 ? 1 : 2;
  const double counted = (model.tied_embeddings ? 1.0 : 2.0) * real(model.vocab) * hidden;
  return copies * padded - counted;
}

double peak(const ModelShape& model, const ParallelPlan& plan) {
  return peak_memory(model, plan).base();
}

/// What is left of a plan's change when it is not possible for the model: nothing to compare.
bool possible(const ModelShape& model, const ParallelPlan& plan) {
  return plan_faults(model, plan, a100()).empty();
}

} // namespace

TEST_CASE("the weights of all GPUs are the model's, once for each data-parallel rank") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model);
    CAPTURE(describe(plan));
    double weights = 0;
    for (const StageMemory& stage : memory_per_gpu(model, plan, a100()).stages)
      weights += stage.weights.base() * plan.tensor * plan.data * plan.context;
    const double experts =
        model.moe ? mixtures(model) * real(model.moe->experts) * ffn_parameters(model) : 0.0;
    const double others =
        total_parameters(model) - experts + replicas(model, plan) + vocabulary_extra(model, plan);
    // ZeRO-3 leaves each parameter on one rank; else each rank has it, an expert one rank of `expert`.
    const double ranks = plan.zero == 3 ? 1.0 : real(std::int64_t{plan.data} * plan.context);
    const double expert_ranks = plan.zero == 3 ? 1.0 : ranks / plan.expert;
    CHECK(weights == doctest::Approx(2 * (ranks * others + expert_ranks * experts)).epsilon(1e-12));
  }
}

TEST_CASE("a total is the sum of its parts, none of them negative, and the peak is the largest total") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model);
    CAPTURE(describe(plan));
    const MemoryEstimate estimate = memory_per_gpu(model, plan, a100());
    Bytes largest;
    for (const StageMemory& stage : estimate.stages) {
      for (const Bytes part : {stage.weights, stage.gradients, stage.optimizer, stage.activations,
                               stage.logits, stage.workspace, stage.slack})
        CHECK(part >= Bytes(0));
      largest = std::max(largest, stage.total());
    }
    CHECK(estimate.peak == largest);
    CHECK(estimate.stages[static_cast<std::size_t>(estimate.worst_stage)].total() == largest);
    CHECK(peak_memory(model, plan) == largest);
  }
}

TEST_CASE("more recomputation, more sharding and smaller micro-batches never take more memory") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    ParallelPlan plan = draw.plan(model);
    CAPTURE(describe(plan));
    ParallelPlan larger = plan;
    larger.micro_batch *= 2;
    larger.global_batch *= 2;
    CHECK(peak(model, plan) <= peak(model, larger));
    plan.recompute = Recompute::none;
    const double none = peak(model, plan);
    plan.recompute = Recompute::selective;
    const double selective = peak(model, plan);
    plan.recompute = Recompute::full;
    CHECK(selective <= none);
    CHECK(peak(model, plan) <= selective);
    ParallelPlan offloaded = plan;
    offloaded.zero = std::max(plan.zero, 1);
    offloaded.cpu_offload = false;
    const double on_gpu = peak(model, offloaded);
    offloaded.cpu_offload = true;
    CHECK(peak(model, offloaded) <= on_gpu);
  }
}

TEST_CASE("each stage of ZeRO leaves less of the model states on a GPU, and so do more ranks") {
  Draw draw;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    ParallelPlan plan = draw.plan(model);
    plan.pipeline = plan.virtual_stages = 1;
    plan.schedule = pipeline::ScheduleKind::one_f_one_b;
    plan.cpu_offload = false;
    plan.global_batch = 128 * plan.micro_batch;
    CAPTURE(describe(plan));
    const auto states = [&](std::int32_t stage, std::int32_t data) {
      plan.zero = stage;
      plan.data = data;
      const StageMemory memory = memory_per_gpu(model, plan, a100()).stages.front();
      return (memory.weights + memory.gradients + memory.optimizer).base();
    };
    for (const std::int32_t data : {8, 16, 64}) { // more than the four ranks of the widest expert group
      CHECK(states(1, data) < states(0, data));
      CHECK(states(2, data) < states(1, data));
      CHECK(states(3, data) < states(2, data));
      for (const std::int32_t stage : {1, 2, 3})
        CHECK(states(stage, 2 * data) < states(stage, data));
    }
  }
}

TEST_CASE("the 1F1B schedule never holds more than GPipe, and sequence parallelism keeps less") {
  Draw draw;
  int compared = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    ParallelPlan plan = draw.plan(model);
    if (plan.virtual_stages > 1)
      continue;
    CAPTURE(describe(plan));
    plan.schedule = pipeline::ScheduleKind::one_f_one_b;
    const double one_f_one_b = peak(model, plan);
    ParallelPlan gpipe = plan;
    gpipe.schedule = pipeline::ScheduleKind::gpipe;
    CHECK(one_f_one_b <= peak(model, gpipe));
    plan.sequence_parallel = true;
    if (!possible(model, plan))
      continue;
    const Bytes split = memory_per_gpu(model, plan, a100()).stages.front().activations;
    plan.sequence_parallel = false;
    CHECK(split <= memory_per_gpu(model, plan, a100()).stages.front().activations);
    ++compared;
  }
  CHECK(compared > kDraws / 4);
}

TEST_CASE("large models do not fit without what their authors needed to train them") {
  CHECK_FALSE(memory_per_gpu(gpt3_175b(), megatron(8, 1, 1, 1, 1), a100()).fits());
  // arXiv 2205.05198, figure 1: without sequence parallelism and recomputation none of the four fits ...
  const ModelShape trillion = gpt(128, 25600, 160);
  CHECK_FALSE(memory_per_gpu(gpt(48, 6144, 64), megatron(8, 1, 1, 4, 1), a100()).fits());
  CHECK_FALSE(memory_per_gpu(gpt3_175b(), interleaved(megatron(8, 8, 1, 1, 64), 3), a100()).fits());
  CHECK_FALSE(memory_per_gpu(mt_nlg_530b(), interleaved(megatron(8, 35, 1, 1, 280), 3), a100()).fits());
  CHECK_FALSE(memory_per_gpu(trillion, megatron(8, 64, 1, 1, 512), a100()).fits());
  CHECK_FALSE(memory_per_gpu(mt_nlg_530b(), megatron(8, 35, 1, 4, 70), a100()).fits());
  // ... and with them all do.
  const auto fits = [](const ModelShape& model, ParallelPlan plan) {
    plan.sequence_parallel = true;
    plan.recompute = Recompute::selective;
    return memory_per_gpu(model, plan, a100()).fits();
  };
  CHECK(fits(gpt(48, 6144, 64), megatron(8, 1, 1, 4, 1)));
  CHECK(fits(gpt3_175b(), interleaved(megatron(8, 8, 1, 1, 64), 3)));
  CHECK(fits(mt_nlg_530b(), interleaved(megatron(8, 35, 1, 1, 280), 3)));
  CHECK(fits(trillion, megatron(8, 64, 1, 1, 512)));
}

TEST_CASE("of vTrain's 294 plans for MT-NLG about 168 do not fit, and about 78 with ZeRO-1") {
  // Case study 1 of arXiv 2312.12391; the counts are an estimate of ours by other means (16 bytes a
  // parameter, activations of full recomputation).
  std::array<int, 2> misfits{};
  for (const std::int32_t tensor : {4, 8, 16})
    for (const std::int32_t data : {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30})
      for (const std::int32_t stages : {3, 5, 7, 15, 21, 35, 105})
        for (const std::int32_t zero : {0, 1}) {
          ParallelPlan plan = megatron(tensor, stages, data, 1, 1920 / data);
          plan.recompute = Recompute::full;
          plan.zero = zero;
          misfits[static_cast<std::size_t>(zero)] +=
              memory_per_gpu(mt_nlg_530b(), plan, a100()).fits() ? 0 : 1;
        }
  CHECK(misfits[0] >= 165);
  CHECK(misfits[0] <= 171);
  CHECK(misfits[1] >= 75);
  CHECK(misfits[1] <= 81);
}
