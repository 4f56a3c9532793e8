// SPDX-License-Identifier: MIT
// The operators of a model against closed forms: FLOPs of the whole model, traffic of each group.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/graph/flops.hpp"
#include "vtrain_core/graph/model_operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr int kDraws = 400;

/// FLOPs of the passes of all GPUs for one global batch.
double work(const ModelShape& model, const ParallelPlan& plan, std::initializer_list<Phase> phases) {
  double flops = 0;
  for (const Block& block : model_operators(model, plan).blocks())
    for (const Operator& op : block.graph.operators())
      if (std::ranges::find(phases, op.phase) != phases.end())
        flops += block.count * op.flops.base();
  return flops * plan.tensor * plan.context * plan.data * real(plan.micro_batches());
}

double mixtures(const ModelShape& model) {
  return model.moe ? real(model.layers / model.moe->every) : 0.0;
}

/// Scores and weighted sums of a forward pass, each a product of 2 s^2 d FLOPs for each head.
double attention_cores(const ModelShape& model, double samples) {
  return samples * real(model.layers) * 2 * 2 * real(model.sequence_length * model.sequence_length) *
         real(model.heads * model.head_dim);
}

/// What tensor-parallel ranks do again: the router, and keys and values where heads are fewer than ranks.
double repeated(const ModelShape& model, const ParallelPlan& plan) {
  const double tokens = real(plan.global_batch * model.sequence_length);
  const double routers =
      model.moe ? mixtures(model) * 2 * real(model.hidden * model.moe->experts) * (plan.tensor - 1) : 0.0;
  const double copies = std::max(1.0, plan.tensor / real(model.kv_heads)) - 1;
  const double keys =
      real(model.layers) * 2 * 2 * real(model.hidden * model.kv_heads * model.head_dim) * copies;
  return tokens * (routers + keys);
}

/// Random, with a vocabulary that needs no padding and experts without room to spare.
ModelShape draw_even_model(CaseDraw& draw) {
  ModelShape model = draw.model();
  model.vocab = 16 * 128 * draw.of<std::int64_t>({3, 25});
  if (model.moe)
    model.moe->capacity_factor = 1.0;
  return model;
}

OperatorGraph layer_of(const ModelShape& model, const ParallelPlan& plan, const StackHabits& habits = {}) {
  return model_operators(model, plan, habits).layer.graph;
}

/// Collectives of a group by pass and kind: "forward all_reduce" -> bytes.
std::map<std::string, double> traffic(const OperatorGraph& graph, Group group) {
  std::map<std::string, double> out;
  for (const Operator& op : graph.operators())
    if (op.kind == OperatorKind::collective && op.group == group)
      out[std::string(to_string(op.phase)) + " " + std::string(to_string(op.collective))] += op.bytes.base();
  return out;
}

using Traffic = std::map<std::string, double>;

std::vector<std::string> names(const OperatorGraph& graph, Phase phase) {
  std::vector<std::string> out;
  for (const Operator& op : graph.operators())
    if (op.phase == phase)
      out.emplace_back(op.name);
  return out;
}

} // namespace

TEST_CASE("the products of the whole model are the FLOPs of the formula, whatever the plan") {
  static const NodeType node = node_type("dgx-h100");
  CaseDraw draw("work");
  int mixed = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw_even_model(draw);
    const ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    const double samples = real(plan.global_batch);
    double expected = model_flops(model, samples).base() + 3 * repeated(model, plan);
    // Flash attention skips the masked half; its backward pass makes the scores again: 5 products for 2.
    if (plan.attention == AttentionKernel::flash)
      expected -= attention_cores(model, samples) * (3 - 0.5 * (1 + 2.5));
    CHECK(work(model, plan, {Phase::forward, Phase::backward}) == close_to(expected).epsilon(1e-12));
    mixed += model.moe ? 1 : 0;
  }
  CHECK(mixed > kDraws / 5);
}

TEST_CASE("GPT, LLaMA, PaLM and a mixture have the FLOPs of the formula under plain attention") {
  for (ModelShape model : {gpt3_175b(), llama_70b(), palm_62b(), mixture()})
    for (const std::int32_t tensor : {1, 2, 4, 8}) {
      model.vocab = 128 * 8 * 32; // no padding
      ParallelPlan plan = megatron(tensor, 1, 2, 2, 3);
      if (model.moe)
        model.moe->capacity_factor = 1.0;
      CAPTURE(model.name);
      const double router = 3 * repeated(model, plan);
      CHECK(work(model, plan, {Phase::forward, Phase::backward}) ==
            close_to(model_flops(model, 12).base() + router).epsilon(1e-12));
      CHECK((router > 0) == (model.moe && tensor > 1));
    }
}

TEST_CASE("a padded vocabulary is computed, and not counted") {
  const ModelShape model = gpt(2, 1024, 16, 50257); // padded to 50,304 over 1 rank, 51,200 over 8
  for (const auto& [tensor, padded] : {std::pair{1, 50304}, std::pair{8, 51200}}) {
    const ParallelPlan plan = megatron(tensor, 1, 1, 1, 1);
    const double more = 3 * 2 * 2048.0 * 1024 * (padded - 50257);
    CHECK(work(model, plan, {Phase::forward, Phase::backward}) ==
          close_to(model_flops(model, 1).base() + more).epsilon(1e-12));
  }
}

TEST_CASE("experts compute for the room they have, and a capacity factor pads it") {
  ModelShape model = mixture();
  const ParallelPlan plan = megatron(1, 1, 1, 1, 1);
  const auto routed = [&](double capacity) {
    model.moe->capacity_factor = capacity;
    return work(model, plan, {Phase::forward});
  };
  // 32 layers, 2 experts of 3 matrices 4096 x 14336 for each of 2048 tokens.
  const double experts = 32 * 2048.0 * 2 * 3 * 2 * 4096 * 14336;
  CHECK(routed(1.25) - routed(1.0) == close_to(0.25 * experts).epsilon(1e-12));
}

TEST_CASE("full recomputation is one more forward pass of the layers, selective one of the attention cores") {
  static const NodeType node = node_type("dgx-h100");
  CaseDraw draw("recomputation");
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw_even_model(draw);
    ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    const double samples = real(plan.global_batch);
    const double both = work(model, plan, {Phase::forward, Phase::backward});
    const double head = samples * 2 * real(model.sequence_length * model.hidden * model.vocab);
    const double core =
        attention_cores(model, samples) * (plan.attention == AttentionKernel::flash ? 0.5 : 1.0);
    const double forward = work(model, plan, {Phase::forward});
    plan.recompute = Recompute::none;
    CHECK(work(model, plan, {Phase::recompute}) == 0.0);
    plan.recompute = Recompute::selective;
    CHECK(work(model, plan, {Phase::recompute}) == close_to(core).epsilon(1e-12));
    plan.recompute = Recompute::full;
    CHECK(work(model, plan, {Phase::recompute}) == close_to(forward - head).epsilon(1e-12));
    CHECK(work(model, plan, {Phase::forward, Phase::backward}) == close_to(both).epsilon(1e-12));
  }
}

TEST_CASE("hardware FLOPs are those of all passes of the graph") {
  static const NodeType node = node_type("dgx-h100");
  CaseDraw draw("hardware");
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw_even_model(draw);
    ParallelPlan plan = draw.plan(model, node.gpu);
    plan.context = 1; // plain attention
    plan.attention = AttentionKernel::plain;
    plan.tensor = 1; // nothing is repeated
    plan.expert = 1;
    CAPTURE(describe(plan));
    CHECK(work(model, plan, {Phase::forward, Phase::recompute, Phase::backward}) ==
          close_to(hardware_flops(model, real(plan.global_batch), plan.recompute).base()).epsilon(1e-12));
  }
}

TEST_CASE("a recomputed layer runs the operators of its forward pass in their order") {
  ParallelPlan plan = megatron(4, 1, 1, 1, 1);
  plan.recompute = Recompute::full;
  for (const bool sequence_parallel : {false, true}) {
    plan.sequence_parallel = sequence_parallel;
    const OperatorGraph graph = layer_of(gpt(2, 1024, 16), plan);
    CHECK(names(graph, Phase::recompute) == names(graph, Phase::forward));
    // PyTorch's checkpoint stops when all that the backward pass reads is there.
    const auto early =
        names(layer_of(gpt(2, 1024, 16), plan, {.stops_recompute_early = true}), Phase::recompute);
    auto expected = names(graph, Phase::forward);
    expected.erase(std::ranges::find(expected, "ffn out"), expected.end());
    CHECK(early == expected);
  }
  plan.recompute = Recompute::selective;
  CHECK(names(layer_of(gpt(2, 1024, 16), plan), Phase::recompute) ==
        std::vector<std::string>{"scores", "softmax", "context"});
}

TEST_CASE("a backward pass reads the forward pass, or after full recomputation the recomputed one alone") {
  ParallelPlan plan = megatron(4, 1, 1, 1, 1);
  const auto read = [&](Recompute recompute) {
    plan.recompute = recompute;
    const OperatorGraph graph = layer_of(gpt(2, 1024, 16), plan);
    std::map<Phase, int> edges;
    for (std::size_t i = 0; i < graph.operators().size(); ++i)
      for (const int before : graph.predecessors(i)) {
        const Operator& producer = graph.operators()[static_cast<std::size_t>(before)];
        if (graph.operators()[i].phase == Phase::backward && producer.phase != Phase::backward &&
            producer.name == graph.operators()[i].name)
          ++edges[producer.phase];
      }
    return edges;
  };
  // Four linear layers, two norms, residuals, activation, softmax, head layout.
  CHECK(read(Recompute::none) == std::map<Phase, int>{{Phase::forward, 11}});
  CHECK(read(Recompute::full) == std::map<Phase, int>{{Phase::recompute, 11}});
  CHECK(read(Recompute::selective) == std::map<Phase, int>{{Phase::forward, 10}, {Phase::recompute, 1}});
}

TEST_CASE("tensor parallelism sums 2 b s h elements twice in each pass of a layer") {
  // arXiv 2104.04473, section 2.3: two all-reduces forward, two backward; the recomputation has its own two.
  const ModelShape model = gpt(2, 1024, 16);
  ParallelPlan plan = megatron(4, 1, 1, 3, 1);
  plan.recompute = Recompute::full;
  const double tensor = 2.0 * 3 * 2048 * 1024;
  CHECK(traffic(layer_of(model, plan), Group::tensor) == Traffic{{"forward all_reduce", 2 * tensor},
                                                                 {"recompute all_reduce", 2 * tensor},
                                                                 {"backward all_reduce", 2 * tensor}});
  // arXiv 2205.05198, section 4.2.2: sequence parallelism makes each an all-gather and a reduce-scatter of
  // the same tensor, and gathers the two stored inputs again in the backward pass.
  plan.sequence_parallel = true;
  const Traffic split{{"forward all_gather", 2 * tensor},   {"forward reduce_scatter", 2 * tensor},
                      {"recompute all_gather", 2 * tensor}, {"recompute reduce_scatter", 2 * tensor},
                      {"backward all_gather", 4 * tensor},  {"backward reduce_scatter", 2 * tensor}};
  CHECK(traffic(layer_of(model, plan), Group::tensor) == split);
  plan.overlap_tensor = true; // moves them beside GEMMs, no byte more or less
  CHECK(traffic(layer_of(model, plan), Group::tensor) == split);
}

TEST_CASE("a parallel block sums once in each pass of a layer") {
  const ModelShape model = palm_62b();
  const double tensor = 2.0 * 2048 * 8192;
  CHECK(traffic(layer_of(model, megatron(8, 1, 1, 1, 1)), Group::tensor) ==
        Traffic{{"forward all_reduce", tensor}, {"backward all_reduce", tensor}});
}

TEST_CASE("embedding and logits sum their partial results over the tensor-parallel ranks") {
  const ModelOperators parts = model_operators(gpt(2, 1024, 16), megatron(4, 1, 1, 1, 1));
  const double tensor = 2.0 * 2048 * 1024;
  CHECK(traffic(parts.embedding.graph, Group::tensor) == Traffic{{"forward all_reduce", tensor}});
  // Three fp32 numbers a token: maximum, sum of exponentials, target logit.
  CHECK(traffic(parts.head.graph, Group::tensor) ==
        Traffic{{"forward all_reduce", 3 * 4.0 * 2048}, {"backward all_reduce", tensor}});
}

TEST_CASE("a mixture sends each token's copies to the experts and back, in either pass") {
  ModelShape model = mixture(); // 2 of 8 experts
  ParallelPlan plan = megatron(2, 1, 8, 3, 1);
  plan.expert = 4;
  for (const double capacity : {1.0, 1.25}) {
    model.moe->capacity_factor = capacity;
    const OperatorGraph graph = model_operators(model, plan).moe->graph;
    const double copies = 3 * 2048.0 * 2 * capacity * 4096 * 2 / plan.tensor; // bytes
    CHECK(traffic(graph, Group::expert) ==
          Traffic{{"forward all_to_all", 2 * copies}, {"backward all_to_all", 2 * copies}});
  }
}

TEST_CASE("context parallelism passes all keys and values round once forward, with gradients backward") {
  const ModelShape model = llama_70b();
  ParallelPlan plan = megatron(4, 1, 1, 1, 1);
  plan.attention = AttentionKernel::flash;
  plan.context = 4;
  const double keys_and_values = 2.0 * 2 * 4096 * (8 * 128 / 4); // bytes of the whole sequence on one rank
  CHECK(traffic(layer_of(model, plan), Group::context) ==
        Traffic{{"forward all_gather", keys_and_values}, {"backward all_gather", 2 * keys_and_values}});
}

TEST_CASE("there is no collective over one rank") {
  static const NodeType node = node_type("dgx-h100");
  CaseDraw draw("lonely");
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    for (const Block& block : model_operators(model, plan, draw_habits(draw)).blocks())
      for (const Operator& op : block.graph.operators()) {
        const std::int32_t ranks = op.group == Group::tensor    ? plan.tensor
                                   : op.group == Group::context ? plan.context
                                                                : plan.expert;
        CHECK((op.kind != OperatorKind::collective || ranks > 1));
      }
  }
}

TEST_CASE("tensor and sequence parallelism divide what a rank reads and writes") {
  const ModelShape model = gpt(2, 4096, 32);
  const auto memory_bytes = [&](std::int32_t tensor, bool sequence_parallel) {
    ParallelPlan plan = megatron(tensor, 1, 1, 1, 1);
    plan.sequence_parallel = sequence_parallel;
    const OperatorGraph graph = layer_of(model, plan);
    double bytes = 0;
    for (const Operator& op : graph.operators())
      bytes += op.kind == OperatorKind::memory_bound ? op.bytes.base() : 0.0;
    return bytes;
  };
  // arXiv 2205.05198: norms and dropouts are whole on each rank without sequence parallelism.
  CHECK(memory_bytes(8, true) == close_to(memory_bytes(1, false) / 8).epsilon(1e-12));
  const double whole = 3 * (2 * 4 + 2 * 7) * 2048.0 * 4096; // two norms and two residuals, backward twice
  CHECK(memory_bytes(8, false) - memory_bytes(8, true) == close_to(whole * 7 / 8).epsilon(1e-12));
}

TEST_CASE("under fp8 the GEMMs of the layers are in fp8, those of attention core and logits are not") {
  ParallelPlan plan = megatron(2, 1, 1, 1, 4);
  plan.precision = Precision::fp8;
  const ModelOperators parts = model_operators(gpt(2, 1024, 16), plan);
  for (const Operator& op : parts.layer.graph.operators())
    if (op.kind == OperatorKind::gemm)
      CHECK(op.low_precision == !op.attention_core);
  for (const Operator& op : parts.head.graph.operators())
    CHECK_FALSE(op.low_precision);
  double casts[] = {0, 0}; // forward, backward
  for (const Operator& op : parts.layer.graph.operators())
    if (op.name == "cast to fp8")
      casts[op.phase == Phase::backward ? 1 : 0] += op.bytes.base();
  CHECK(casts[0] > 0);
  CHECK(casts[1] == 2 * casts[0]); // the gradient, and the transposes
  plan.precision = Precision::bf16;
  const OperatorGraph wide = layer_of(gpt(2, 1024, 16), plan);
  for (const Operator& op : wide.operators()) {
    CHECK_FALSE(op.low_precision);
    CHECK(op.name != "cast to fp8");
  }
}

TEST_CASE("each backward pass of a linear layer has an input and a weight gradient of its size") {
  const OperatorGraph graph = layer_of(llama_70b(), megatron(8, 1, 1, 1, 1));
  for (const std::string_view name : {"qkv", "attention out", "ffn in", "ffn out"}) {
    std::vector<const Operator*> found;
    for (const Operator& op : graph.operators())
      if (op.name == name)
        found.push_back(&op);
    CAPTURE(name);
    REQUIRE(found.size() == 3);
    const Operator& forward = *found[0];
    CHECK(forward.phase == Phase::forward);
    CHECK_FALSE(found[1]->weight_gradient);
    CHECK(found[2]->weight_gradient);
    // dX (m x k) = dY (m x n) W' (n x k), dW (n x k) = dY' (n x m) X (m x k).
    CHECK(std::array{found[1]->m, found[1]->n, found[1]->k} == std::array{forward.m, forward.k, forward.n});
    CHECK(std::array{found[2]->m, found[2]->n, found[2]->k} == std::array{forward.n, forward.k, forward.m});
    for (const Operator* op : found)
      CHECK(op->flops == forward.flops);
  }
}

TEST_CASE("a model of mixtures alone has no dense layer, and one of every four has three") {
  ModelShape model = mixture();
  const ParallelPlan plan = megatron(1, 1, 1, 1, 1);
  CHECK(model_operators(model, plan).layer.count == 0);
  CHECK(model_operators(model, plan).blocks().size() == 3);
  model.moe->every = 4;
  const ModelOperators parts = model_operators(model, plan);
  CHECK(parts.layer.count == 24);
  CHECK(parts.moe->count == 8);
  CHECK(parts.blocks().size() == 4);
}
