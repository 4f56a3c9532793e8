// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/memory_shapes.hpp"
#include "vtrain_core/estimate/layer_activations.hpp"
#include "vtrain_core/estimate/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace vtrain;
using namespace vtrain::test;

namespace {

double states(const StageMemory& stage) {
  return (stage.weights + stage.gradients + stage.optimizer).base();
}

StageMemory only_stage(const ModelShape& model, const ParallelPlan& plan) {
  const MemoryEstimate estimate = memory_per_gpu(model, plan, a100());
  REQUIRE(estimate.stages.size() == 1);
  return estimate.stages.front();
}

/// A model whose vocabulary needs no padding, so that one GPU holds exactly its parameters.
ModelShape seven_billion() {
  return gpt(36, 4096, 32);
}

ParallelPlan zero(std::int32_t stage, std::int32_t data, Precision precision = Precision::fp16) {
  ParallelPlan plan = megatron(1, 1, data, 1, 1);
  plan.zero = stage;
  plan.precision = precision;
  return plan;
}

} // namespace

TEST_CASE("mixed-precision Adam holds 16 bytes a parameter in fp16, and 18 in bf16 and fp8") {
  const double parameters = total_parameters(seven_billion());
  const StageMemory half = only_stage(seven_billion(), zero(0, 1));
  CHECK(half.weights.base() == 2 * parameters);
  CHECK(half.gradients.base() == 2 * parameters);
  CHECK(half.optimizer.base() == 12 * parameters);
  CHECK(states(only_stage(seven_billion(), zero(0, 1, Precision::bf16))) == 18 * parameters);
  CHECK(states(only_stage(seven_billion(), zero(0, 1, Precision::fp8))) == 18 * parameters);
}

TEST_CASE("ZeRO's model states are those of its figure 1") {
  // arXiv 1910.02054: 7.5e9 parameters on 64 GPUs hold 120, 31.4, 16.6 and 1.9 GB.
  const double parameters = total_parameters(seven_billion());
  const auto of_paper = [&](std::int32_t stage) {
    return states(only_stage(seven_billion(), zero(stage, 64))) / parameters * 7.5;
  };
  CHECK(of_paper(0) == doctest::Approx(120.0).epsilon(1e-12));
  CHECK(of_paper(1) == doctest::Approx(31.4).epsilon(1e-3));
  CHECK(of_paper(2) == doctest::Approx(16.6).epsilon(3e-3));
  CHECK(of_paper(3) == doctest::Approx(1.875).epsilon(1e-12));
}

TEST_CASE("Megatron-LM's distributed optimizer holds 6 + 12/d bytes a parameter in bf16") {
  const double parameters = total_parameters(seven_billion());
  for (const std::int32_t data : {1, 2, 8})
    CHECK(states(only_stage(seven_billion(), zero(1, data, Precision::bf16))) ==
          doctest::Approx(parameters * (6 + 12.0 / data)).epsilon(1e-12));
}

TEST_CASE("hybrid sharding splits over its group alone, and context ranks share too") {
  ParallelPlan plan = zero(3, 64);
  plan.shard_group = 8;
  CHECK(states(only_stage(seven_billion(), plan)) == states(only_stage(seven_billion(), zero(3, 8))));
  plan = zero(3, 4);
  plan.context = 2;
  plan.attention = AttentionKernel::flash;
  CHECK(states(only_stage(seven_billion(), plan)) == states(only_stage(seven_billion(), zero(3, 8))));
}

TEST_CASE("offload takes the optimizer off the GPU, and from ZeRO-2 on the gradients") {
  ParallelPlan plan = zero(1, 4);
  const StageMemory kept = only_stage(seven_billion(), plan);
  plan.cpu_offload = true;
  const StageMemory offloaded = only_stage(seven_billion(), plan);
  CHECK(offloaded.optimizer == Bytes(0));
  CHECK(offloaded.gradients == kept.gradients);
  plan.zero = 2;
  CHECK(only_stage(seven_billion(), plan).gradients == Bytes(0));
  CHECK(only_stage(seven_billion(), plan).weights == kept.weights);
}

TEST_CASE("ZeRO-3 holds two layers gathered beside its shard, weights and gradients") {
  const ModelShape model = seven_billion();
  const ParallelPlan plan = zero(3, 8);
  const double layer = attention_parameters(model) + ffn_parameters(model) + 2.0 * 4096;
  const double outside = total_parameters(model) - 36 * layer;
  const StageMemory split = only_stage(model, plan);
  const StageMemory whole = only_stage(model, zero(1, 8));
  // Both run into the fp32 copy of the gradients at the step, or neither.
  CHECK((split.workspace - whole.workspace).base() == doctest::Approx(4 * (2 * layer + outside)));
}

TEST_CASE("experts are split over the ranks that have the same ones") {
  ParallelPlan plan = zero(0, 8, Precision::bf16);
  plan.attention = AttentionKernel::flash;
  const double whole = only_stage(mixture(), plan).optimizer.base();
  const double experts = 12 * 32 * 8 * ffn_parameters(mixture());
  plan.expert = 4;
  CHECK(only_stage(mixture(), plan).optimizer.base() == doctest::Approx(whole - experts * 3 / 4));
  plan.zero = 1; // 8 ranks share what is not an expert, 2 of them each expert
  CHECK(only_stage(mixture(), plan).optimizer.base() ==
        doctest::Approx((whole - experts) / 8 + experts / 4 / 2));
}

TEST_CASE("the first stage of a pipeline keeps the layers of one model, interleaved a little more") {
  // arXiv 2205.05198, equation 5 and section 4.2.3; embedding dropout keeps s b h p.
  const ModelShape model = gpt3_175b();
  const double sbh = 2048.0 * 12288;
  const double layer = sbh * (10 + 24 / 8.0 + 80 / 8.0);
  const auto first = [&](const ParallelPlan& plan) {
    return memory_per_gpu(model, plan, a100()).stages.front().activations.base();
  };
  CHECK(first(megatron(8, 8, 1, 1, 64)) == 96 * layer + sbh * 8);
  CHECK(first(interleaved(megatron(8, 8, 1, 1, 64), 3)) ==
        doctest::Approx((96 * layer + sbh * 8) * (1 + 7.0 / (8 * 3))).epsilon(1e-12));
  CHECK(first(megatron(8, 8, 1, 1, 2)) == (96 * layer + sbh * 8) / 4); // two micro-batches in flight
}

TEST_CASE("the last stage holds norm, logits and loss of one micro-batch, under GPipe of all") {
  const ModelShape model = gpt3_175b();
  ParallelPlan plan = megatron(8, 8, 1, 1, 64);
  plan.sequence_parallel = true;
  const double tokens = 2048;
  const double layer = tokens * 12288 / 8 * (34 + 80);
  const StageMemory last = memory_per_gpu(model, plan, a100()).stages.back();
  CHECK(last.activations.base() == 12 * layer + 4 * tokens * 12288 / 8);
  CHECK(last.logits.base() == 6 * tokens * 51200 / 8); // 16-bit logits, fp32 softmax in their place
  plan.schedule = pipeline::ScheduleKind::gpipe;
  const StageMemory gpipe = memory_per_gpu(model, plan, a100()).stages.back();
  CHECK(gpipe.activations.base() == 64 * (12 * layer + 4 * tokens * 12288 / 8));
  CHECK(gpipe.logits.base() == (63 * 4 + 6) * tokens * 51200 / 8);
}

TEST_CASE("logits are on the last stage alone, and memory shrinks down the pipeline") {
  const MemoryEstimate estimate = memory_per_gpu(gpt3_175b(), megatron(8, 8, 1, 1, 64), a100());
  REQUIRE(estimate.stages.size() == 8);
  CHECK(estimate.worst_stage == 0);
  for (std::size_t stage = 0; stage < 7; ++stage)
    CHECK(estimate.stages[stage].logits == Bytes(0));
  for (std::size_t stage = 1; stage < 7; ++stage)
    CHECK(estimate.stages[stage].total() < estimate.stages[stage - 1].total());
}

TEST_CASE("workspace is a layer's backward pass beyond what the loss took, messages and libraries") {
  const double mebibyte = 1048576;
  const double libraries = 576 * mebibyte; // CUDA context and cuBLAS
  const double communicator = 256 * mebibyte;
  ParallelPlan plan = zero(0, 1, Precision::bf16);
  plan.recompute = Recompute::full;
  ModelShape model = gpt(2, 1024, 16, 512);
  const LayerActivations layer = layer_activations(model, plan, false);
  const double backward = (layer.recomputed + layer.gradients).base();
  CHECK(only_stage(model, plan).workspace.base() == backward - 6.0 * 2048 * 512 + libraries);
  model.vocab = 1 << 20; // now the loss needs more
  CHECK(only_stage(model, plan).workspace.base() == libraries);
  plan.pipeline = 2;
  plan.global_batch = 4;
  const StageMemory first = memory_per_gpu(model, plan, a100()).stages.front();
  CHECK(first.workspace.base() == backward + 2 * 2.0 * 2048 * 1024 + libraries + communicator);
  plan.data = 2;
  plan.global_batch = 8;
  CHECK((memory_per_gpu(model, plan, a100()).stages.front().workspace - first.workspace).base() ==
        communicator);
}

TEST_CASE("flash attention's fused loss keeps the 16-bit logits") {
  ParallelPlan plan = zero(0, 1, Precision::bf16);
  plan.attention = AttentionKernel::flash;
  CHECK(only_stage(seven_billion(), plan).logits.base() == 4.0 * 2048 * 51200);
  plan.schedule = pipeline::ScheduleKind::gpipe;
  plan.global_batch = 3;
  CHECK(only_stage(seven_billion(), plan).logits.base() == (4.0 + 2 * 2.0) * 2048 * 51200);
}

TEST_CASE("the worst stage is the first of those that need most") {
  ParallelPlan plan = megatron(1, 4, 1, 1, 2);
  plan.schedule = pipeline::ScheduleKind::gpipe;
  plan.stage_layers = {1, 8, 8, 1};
  const MemoryEstimate estimate = memory_per_gpu(gpt(18, 1024, 16, 512), plan, a100());
  CHECK(estimate.stages[1].total() == estimate.stages[2].total());
  CHECK(estimate.worst_stage == 1);
}

TEST_CASE("fp16 casts all gradients to fp32 for its step, which few activations leave room for") {
  // Megatron-LM's table of the distributed optimizer: 20 bytes a parameter in fp16.
  const ModelShape model = seven_billion();
  ParallelPlan plan = megatron(1, 1, 1, 1, 1);
  plan.recompute = Recompute::full;
  const double parameters = total_parameters(model);
  const StageMemory stage = only_stage(model, plan);
  const double libraries = 576 * 1048576.0; // context and cuBLAS; one GPU has no communicator
  CHECK((stage.total() - stage.slack).base() == doctest::Approx(20 * parameters + libraries).epsilon(1e-12));
  CHECK(stage.slack.base() == doctest::Approx(0.03 * 4 * parameters).epsilon(1e-12));
}

TEST_CASE("an estimate says whether a plan fits and how much is left") {
  const MemoryEstimate small = memory_per_gpu(gpt(24, 1024, 16), megatron(1, 1, 1, 1, 1), a100());
  CHECK(small.fits());
  CHECK(small.margin() == doctest::Approx(1 - small.peak / small.capacity));
  CHECK(small.peak == small.stages.front().total());
  const MemoryEstimate large = memory_per_gpu(gpt3_175b(), megatron(8, 1, 1, 1, 1), a100());
  CHECK_FALSE(large.fits());
  CHECK(large.margin() < 0);
}

TEST_CASE("what a GPU offers is what PyTorch reports of it") {
  const auto gibibytes = [](double data_sheet) {
    return usable_memory(gpu_with(data_sheet)).base() / 1073741824;
  };
  CHECK(gibibytes(80) == doctest::Approx(79.2).epsilon(0.01));   // A100, H100
  CHECK(gibibytes(40) == doctest::Approx(39.4).epsilon(0.01));   // A100
  CHECK(gibibytes(16) == doctest::Approx(15.78).epsilon(0.01));  // V100
  CHECK(gibibytes(141) == doctest::Approx(139.8).epsilon(0.01)); // H200
  Gpu binary;
  binary.memory = Bytes(80 * 1073741824.0);
  CHECK(usable_memory(binary) == usable_memory(a100()));
}
