// SPDX-License-Identifier: MIT
// Models, nodes and random plans that the tests of the iteration time have in common.
#pragma once

#include "common/random.hpp"
#include "platforms/catalogue.hpp"
#include "tests/support/close_to.hpp"
#include "tests/vtrain_core/memory_shapes.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace vtrain::test {

inline double real(std::int64_t value) {
  return static_cast<double>(value);
}

inline NodeType node_type(std::string_view name) {
  return *Catalogue::builtin().node(name);
}

/// LLaMA-2 70B: grouped queries, SwiGLU, rotary positions, no biases.
inline ModelShape llama_70b() {
  ModelShape model = gpt(80, 8192, 64, 32000);
  model.kv_heads = 8;
  model.ffn_hidden = 28672;
  model.sequence_length = 4096;
  model.gated_ffn = true;
  model.tied_embeddings = false;
  model.learned_positions = false;
  model.rotary = true;
  model.biases = false;
  return model;
}

/// PaLM 62B (arXiv 2204.02311) with 8 key-value heads instead of one: parallel block, SwiGLU, no biases,
/// heads that are not hidden / heads wide.
inline ModelShape palm_62b() {
  ModelShape model = gpt(64, 8192, 32, 256000);
  model.kv_heads = 8;
  model.head_dim = 256;
  model.gated_ffn = true;
  model.parallel_block = true;
  model.learned_positions = false;
  model.rotary = true;
  model.biases = false;
  return model;
}

/// Random models and plans; all switches are drawn.
class CaseDraw {
public:
  explicit CaseDraw(std::string_view stream, std::uint64_t seed = 1)
      : stream_(RandomStreams(seed).stream(stream)) {}

  template <class T> T of(std::initializer_list<T> values) {
    return values.begin()[stream_.below(values.size())];
  }
  bool coin() { return stream_.below(2) == 0; }
  double uniform(double low, double high) { return stream_.uniform(low, high); }

  ModelShape model() {
    ModelShape model;
    model.name = "random";
    model.layers = of<std::int64_t>({4, 8, 12, 20, 24});
    model.heads = of<std::int64_t>({8, 16, 24});
    model.kv_heads = model.heads / of<std::int64_t>({1, 1, 2, 4, 8});
    model.head_dim = of<std::int64_t>({64, 80, 128});
    model.hidden = coin() ? model.heads * model.head_dim : of<std::int64_t>({768, 1536, 3072});
    model.ffn_hidden = coin() ? 4 * model.hidden : of<std::int64_t>({2816, 5632});
    model.vocab = of<std::int64_t>({5000, 32000, 50257});
    model.sequence_length = of<std::int64_t>({256, 512, 1024});
    model.gated_ffn = coin();
    model.parallel_block = of({0, 1, 2}) == 0;
    model.tied_embeddings = coin();
    model.learned_positions = coin();
    model.rotary = !model.learned_positions;
    model.biases = coin();
    if (of({0, 1, 2}) == 0)
      model.moe = MixtureOfExperts{.experts = of<std::int64_t>({4, 8, 16}),
                                   .top_k = of<std::int64_t>({1, 2, 4}),
                                   .capacity_factor = of({1.0, 1.25}),
                                   .shared_experts = of<std::int64_t>({0, 0, 1}),
                                   .every = of<std::int64_t>({1, 2, 4})};
    return model;
  }

  /// A possible plan for the model, with up to `most_micro_batches` (a multiple of 4) micro-batches.
  ParallelPlan plan(const ModelShape& model, const Gpu& gpu, std::int64_t most_micro_batches = 32) {
    for (;;) {
      ParallelPlan plan = degrees(model);
      draw_schedule(plan);
      draw_switches(plan);
      plan.global_batch = plan.data * plan.micro_batch *
                          of<std::int64_t>({1, 2, 3, 4, 8, most_micro_batches / 2, most_micro_batches});
      if (plan_faults(model, plan, gpu).empty())
        return plan;
    }
  }

private:
  ParallelPlan degrees(const ModelShape& model) {
    ParallelPlan plan;
    plan.tensor = of({1, 2, 4, 8, 16});
    plan.pipeline = of({1, 1, 2, 3, 4, 8});
    plan.data = of({1, 2, 3, 4, 16, 64});
    plan.context = of({1, 1, 1, 2, 4});
    plan.expert = model.moe ? of({1, 2, 4, 8}) : 1;
    plan.micro_batch = of<std::int64_t>({1, 2, 4});
    return plan;
  }

  void draw_schedule(ParallelPlan& plan) {
    using pipeline::ScheduleKind;
    plan.schedule =
        of({ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved, ScheduleKind::zb_h1});
    if (plan.schedule == ScheduleKind::interleaved && plan.pipeline > 1)
      plan.virtual_stages = of({2, 3});
  }

  void draw_switches(ParallelPlan& plan) {
    plan.sequence_parallel = coin();
    plan.recompute = of({Recompute::none, Recompute::selective, Recompute::full});
    plan.attention = of({AttentionKernel::plain, AttentionKernel::flash});
    plan.precision = of({Precision::fp16, Precision::bf16, Precision::fp8});
    plan.zero = of({0, 1, 2, 3});
    plan.shard_group = plan.zero > 0 ? of({0, 0, 2, 4}) : 0;
    plan.cpu_offload = plan.zero > 0 && of({0, 1, 2}) == 0;
    plan.overlap_grad_reduce = coin();
    plan.overlap_param_gather = coin();
    plan.overlap_tensor = coin();
    plan.overlap_input_gradient = coin();
    plan.overlap_pipeline = coin();
    plan.bucket = Bytes(of({1e5, 25.0 * 1048576.0, 1e9}));
    if (of({0, 1, 2, 3}) == 0)
      plan.rank_order = {ParallelAxis::tensor, ParallelAxis::pipeline, ParallelAxis::context,
                         ParallelAxis::expert, ParallelAxis::data};
  }

  RandomStream stream_;
};

/// Habits of all kinds.
inline StackHabits draw_habits(CaseDraw& draw) {
  StackHabits habits;
  if (draw.coin())
    habits = {.gradient_bytes = {2, 2, 2},
              .accumulation_bytes = {0, 0, 0},
              .sharded_from = 2,
              .stops_recompute_early = true,
              .scatters_messages = false};
  return habits;
}

} // namespace vtrain::test
