// SPDX-License-Identifier: MIT
// Models and plans that the tests of memory have in common.
#pragma once

#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <cstdint>
#include <string>

namespace vtrain::test {

/// A GPT as Megatron-LM trains it: dropout, biases, FFN of 4h, learned positions, tied embeddings.
inline ModelShape gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                      std::int64_t vocab = 51200) {
  ModelShape model;
  model.name = "gpt";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.ffn_hidden = 4 * hidden;
  model.vocab = vocab;
  model.sequence_length = 2048;
  return model;
}

inline ModelShape gpt3_175b() {
  return gpt(96, 12288, 96);
}
inline ModelShape mt_nlg_530b() {
  return gpt(105, 20480, 128);
}

/// A mixture of experts in LLaMA's manner: no biases, gated FFN, grouped queries, rotary positions.
inline ModelShape mixture() {
  ModelShape model = gpt(32, 4096, 32, 32000);
  model.kv_heads = 8;
  model.ffn_hidden = 14336;
  model.gated_ffn = true;
  model.tied_embeddings = false;
  model.learned_positions = false;
  model.rotary = true;
  model.biases = false;
  model.moe = MixtureOfExperts{.experts = 8, .top_k = 2, .capacity_factor = 1.25};
  return model;
}

/// Plain attention, fp16, 1F1B: what Megatron-LM did in 2021.
inline ParallelPlan megatron(std::int32_t tensor, std::int32_t pipeline, std::int32_t data,
                             std::int64_t micro_batch, std::int64_t micro_batches) {
  ParallelPlan plan;
  plan.tensor = tensor;
  plan.pipeline = pipeline;
  plan.data = data;
  plan.micro_batch = micro_batch;
  plan.global_batch = data * micro_batch * micro_batches;
  plan.precision = Precision::fp16;
  plan.attention = AttentionKernel::plain;
  return plan;
}

inline ParallelPlan interleaved(ParallelPlan plan, std::int32_t virtual_stages) {
  plan.virtual_stages = virtual_stages;
  if (virtual_stages > 1)
    plan.schedule = pipeline::ScheduleKind::interleaved;
  return plan;
}

/// A GPU by its data sheet's memory in GB.
inline Gpu gpu_with(double gigabytes) {
  Gpu gpu;
  gpu.name = "gpu of " + std::to_string(gigabytes) + " GB";
  gpu.memory = Bytes(gigabytes * 1e9);
  gpu.peak_fp8 = FlopsPerSecond(2e15);
  return gpu;
}

inline Gpu a100() {
  return gpu_with(80);
}

} // namespace vtrain::test
