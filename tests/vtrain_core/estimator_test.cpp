// SPDX-License-Identifier: MIT
// The estimate of an iteration against closed forms, published figures, and what other tools get wrong.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/cost/analytic_cost.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/graph/flops.hpp"
#include "vtrain_core/graph/model_operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

NodeType a100_node() {
  return node_type("dgx-a100-80g");
}

/// No host, no stragglers, no fixed cost.
ConstantValues bare() {
  ConstantValues constants;
  constants[Constant::layer_launch] = 0;
  constants[Constant::straggler] = 0;
  constants[Constant::iteration_overhead] = 0;
  return constants;
}

IterationEstimate estimate(const ModelShape& model, const ParallelPlan& plan,
                           const ConstantValues& constants = {}, const NodeType& node = a100_node()) {
  return Estimator(node, constants).estimate(model, plan);
}
double seconds(const ModelShape& model, const ParallelPlan& plan, const ConstantValues& constants = {},
               const NodeType& node = a100_node()) {
  return Estimator(node, constants).time(model, plan).base();
}
pipeline::Problem<double> problem(const ModelShape& model, const ParallelPlan& plan,
                                  const ConstantValues& constants = {}) {
  return Estimator(a100_node(), constants).problem(model, plan);
}

/// The pipeline of layers alone: no embedding, no head, free messages, nothing at the end.
pipeline::Problem<double> layers_alone(const ModelShape& model, const ParallelPlan& plan) {
  pipeline::Problem<double> out = problem(model, plan);
  std::ranges::fill(out.forward, out.forward[out.forward.size() / 2]);
  std::ranges::fill(out.backward, out.backward[out.backward.size() / 2]);
  std::ranges::fill(out.send_forward, 0.0);
  std::ranges::fill(out.send_backward, 0.0);
  out.optimizer.clear();
  return out;
}

/// Forward and backward seconds of one layer with all its collectives.
std::pair<double, double> layer(ModelShape model, const ParallelPlan& plan) {
  model.layers = 1;
  const auto one = problem(model, plan);
  model.layers = 2;
  const auto two = problem(model, plan);
  return {two.forward[0] - one.forward[0], two.backward[0] - one.backward[0]};
}

} // namespace

TEST_CASE("on one GPU an iteration is the sum of its operators") {
  const ModelShape model = gpt(4, 1024, 16);
  ParallelPlan plan = megatron(1, 1, 1, 2, 3);
  plan.recompute = Recompute::full;
  const AnalyticCost cost(a100_node().gpu, bare());
  double kernels = 0;
  for (const Block& block : model_operators(model, plan).blocks())
    for (const Operator& op : block.graph.operators())
      kernels += block.count * cost.time(op).base();
  const double parameters = total_parameters(model); // a vocabulary of 51,200 is not padded
  const double bandwidth = 2.039e12 * 0.85;
  // fp16: 6 bytes a parameter and micro-batch to add gradients up, 30 bytes to update.
  const double expected = 3 * (kernels + 6 * parameters / bandwidth) + 30 * parameters / bandwidth;
  CHECK(seconds(model, plan, bare()) == close_to(expected).epsilon(1e-9));
  const Breakdown parts = estimate(model, plan, bare()).breakdown;
  CHECK(parts.optimizer.base() == close_to(30 * parameters / bandwidth));
  CHECK(parts.bubble < Seconds(1e-9));
  CHECK((parts.forward + parts.backward + parts.recompute).base() ==
        close_to(3 * (kernels + 6 * parameters / bandwidth)));
}

TEST_CASE("the bubble of 1F1B is (p - 1) of m + p - 1 slots, interleaving divides it by its chunks") {
  const ModelShape model = gpt(48, 2048, 16);
  for (const std::int32_t stages : {2, 4, 8})
    for (const std::int32_t rounds : {1, 2, 8}) {
      const int micro_batches = rounds * stages;
      const ParallelPlan plan = megatron(1, stages, 1, 1, micro_batches);
      const auto plain = layers_alone(model, plan);
      const double slot = plain.forward[0] + plain.backward[0];
      const double ideal = micro_batches * slot;
      const double time = pipeline::collapsed_time(plain).makespan_s;
      // arXiv 2104.04473, section 2.2.1.
      CHECK((time - ideal) / time == close_to((stages - 1.0) / (micro_batches + stages - 1.0)).epsilon(1e-9));
      for (const std::int32_t chunks : {2, 3}) {
        // Section 2.2.2: the bubble over the ideal time is (p - 1) / (v m).
        const auto cut = layers_alone(model, interleaved(plan, chunks));
        const double whole = micro_batches * chunks * (cut.forward[0] + cut.backward[0]);
        const double bubble = pipeline::collapsed_time(cut).makespan_s - whole;
        CHECK(bubble / whole == close_to((stages - 1.0) / (chunks * micro_batches)).epsilon(1e-9));
      }
    }
}

TEST_CASE("the estimate of a deep model shows the bubble of its pipeline") {
  ModelShape model = gpt(64, 4096, 32, 128); // next to nothing outside the layers
  NodeType node = a100_node();
  node.network = BytesPerSecond(1e18);
  node.gpu.nvlink = BytesPerSecond(1e18);
  ConstantValues constants = bare();
  constants[Constant::message_latency] = 0;
  for (const std::int32_t micro_batches : {8, 32}) {
    const IterationEstimate out = estimate(model, megatron(1, 8, 1, 1, micro_batches), constants, node);
    const Breakdown& parts = out.breakdown;
    const double pipeline = (out.time - parts.optimizer - parts.data_comm).base();
    CHECK(parts.bubble.base() / pipeline == close_to(7.0 / (micro_batches + 7)).epsilon(0.01));
    CHECK(parts.pipeline_comm.base() < 1e-3 * pipeline);
  }
}

TEST_CASE("a layer takes what Megatron-LM measured on A100") {
  // arXiv 2205.05198, table 4: 22B (h 6144, 64 heads), tensor 8, micro-batch 4: forward 7.7 ms,
  // backward 11.9; with sequence parallelism 7.2 and 11.8. Textbook constants.
  const ModelShape model = gpt(1, 6144, 64);
  ParallelPlan plan = megatron(8, 1, 1, 4, 1);
  plan.overlap_input_gradient = true;
  const auto [forward, backward] = layer(model, plan);
  CHECK(forward == close_to(7.7e-3).epsilon(0.08));
  CHECK(backward == close_to(11.9e-3).epsilon(0.10));
  plan.sequence_parallel = true;
  const auto [split_forward, split_backward] = layer(model, plan);
  CHECK(split_forward == close_to(7.2e-3).epsilon(0.08));
  CHECK(split_backward == close_to(11.8e-3).epsilon(0.10));
  // Recomputing the attention cores: 1.3 ms.
  plan.recompute = Recompute::selective;
  CHECK(layer(model, plan).second - split_backward == close_to(1.3e-3).epsilon(0.25));
  CHECK(split_forward < forward);
}

TEST_CASE("data parallelism adds the reduction of the gradients and the slowest of the replicas") {
  const ModelShape model = gpt(8, 2048, 16);
  const ParallelPlan one = megatron(1, 1, 1, 1, 4);
  const ParallelPlan many = megatron(1, 1, 64, 1, 4);
  ConstantValues constants = bare();
  const double gradients = 2 * (total_parameters(model));
  const double added = seconds(model, many, constants) - seconds(model, one, constants);
  CHECK(added == close_to(2 * 63.0 / 64 * gradients / (200e9 * 0.65)).epsilon(0.02));
  constants[Constant::straggler] = 0.02;
  const double late = seconds(model, many, constants) - seconds(model, many, bare());
  const double compute =
      seconds(model, one, bare()) - estimate(model, one, bare()).breakdown.optimizer.base();
  CHECK(late == close_to(0.02 * std::sqrt(2 * std::log(64.0)) * compute).epsilon(1e-6));
  CHECK(seconds(model, one, constants) == close_to(seconds(model, one, bare())));
}

TEST_CASE("MFU, HFU and tokens per second follow from the time") {
  ParallelPlan plan = megatron(8, 2, 4, 1, 8);
  plan.recompute = Recompute::full;
  const ModelShape model = gpt(24, 4096, 32);
  const IterationEstimate out = estimate(model, plan);
  const double peak = 64 * 312e12 * out.time.base();
  CHECK(out.gpus == 64);
  CHECK(out.mfu == close_to(model_flops(model, 32).base() / peak));
  CHECK(out.hfu == close_to(hardware_flops(model, 32, Recompute::full).base() / peak));
  CHECK(out.tokens_per_s == close_to(32 * 2048 / out.time.base()));
  plan.precision = Precision::fp8;
  const IterationEstimate fp8 = estimate(model, plan, {}, node_type("dgx-h100"));
  CHECK(fp8.mfu == close_to(model_flops(model, 32).base() / (64 * 1979e12 * fp8.time.base())));
}

TEST_CASE("a message is a micro-batch's activations, split over the tensor ranks") {
  const ModelShape model = gpt(8, 4096, 32);
  const ParallelPlan plan = megatron(2, 4, 2, 3, 4); // stages of 4 GPUs: two on a node
  const auto pipe = problem(model, plan);
  const double bytes = 2.0 * 3 * 2048 * 4096 / 2;
  const double inside = 20e-6 + bytes / (300e9 * 0.62);
  const double across = 20e-6 + bytes / (25e9 * 0.65);
  CHECK(pipe.send_forward == std::vector<double>{inside, across, inside, 0.0});
  CHECK(pipe.send_backward == std::vector<double>{0.0, inside, across, inside});
  const StackHabits whole{.scatters_messages = false};
  CHECK(Estimator(a100_node(), {}, whole).problem(model, plan).send_forward[1] ==
        close_to(20e-6 + 2 * bytes / (25e9 * 0.65)));
}

TEST_CASE("interleaved messages go round: the last stage sends its chunk's end to the first") {
  const ParallelPlan plan = interleaved(megatron(8, 2, 1, 1, 4), 3);
  const auto pipe = problem(gpt(12, 4096, 32), plan);
  const double across = 20e-6 + 2.0 * 2048 * 4096 / 8 / (25e9 * 0.65);
  // [stage][chunk]; only the end of the model sends nothing on.
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(pipe.send_forward[i] == close_to(i == 5 ? 0.0 : across));
    CHECK(pipe.send_backward[i] == close_to(i == 0 ? 0.0 : across));
  }
}

TEST_CASE("exposed messages are what free messages would save") {
  const ModelShape model = gpt(16, 4096, 32);
  const ParallelPlan plan = megatron(4, 4, 2, 1, 8);
  const IterationEstimate out = estimate(model, plan);
  auto pipe = problem(model, plan);
  const double with = pipeline::collapsed_time(pipe).makespan_s;
  std::ranges::fill(pipe.send_forward, 0.0);
  std::ranges::fill(pipe.send_backward, 0.0);
  CHECK(out.breakdown.pipeline_comm.base() == close_to(with - pipeline::collapsed_time(pipe).makespan_s));
  CHECK(out.breakdown.pipeline_comm > Seconds(0));
}

TEST_CASE("the host's launches bound a model of small layers") {
  const ModelShape model = gpt(24, 256, 4);
  const IterationEstimate out = estimate(model, megatron(1, 1, 1, 1, 8));
  // 24 layers, 8 micro-batches: 1.3 ms forward and 1.6 times that backward.
  const double floor = 24 * 8 * 1.3e-3 * (1 + 1.6);
  CHECK(out.breakdown.host.base() > 0.5 * floor);
  CHECK(out.time.base() > floor);
  CHECK(estimate(gpt3_175b(), megatron(8, 8, 1, 1, 8)).breakdown.host == Seconds(0));
}

TEST_CASE("micro-batches are kept without a pipeline, and small ones are slower") {
  // vTrain's released code makes one of them.
  const ModelShape model = gpt(30, 3072, 32);
  double before = 0;
  for (const std::int64_t micro_batch : {16, 8, 4, 2, 1}) {
    const ParallelPlan plan = megatron(2, 1, 32, micro_batch, 16 / micro_batch);
    CHECK(problem(model, plan).micro_batches == 16 / micro_batch);
    CHECK(seconds(model, plan) > before);
    before = seconds(model, plan);
  }
}

TEST_CASE("every stage recomputes, after its gradient has come, with the collectives of a forward pass") {
  const ModelShape model = gpt(8, 4096, 32);
  ParallelPlan plan = megatron(8, 4, 1, 1, 4);
  const auto plain = problem(model, plan);
  plan.recompute = Recompute::full;
  const auto again = problem(model, plan);
  CHECK(again.forward == plain.forward);
  // Two layers' forward passes more on each stage, the last included, as part of its backward pass.
  const double forward = plain.forward[1]; // neither embedding nor head
  for (std::size_t stage = 0; stage < 4; ++stage)
    CHECK(again.backward[stage] - plain.backward[stage] == close_to(forward).epsilon(1e-6));
  const double with = estimate(model, plan).breakdown.tensor_comm.base();
  plan.recompute = Recompute::none;
  const double without = estimate(model, plan).breakdown.tensor_comm.base();
  // Six all-reduces a layer instead of four; two layers a stage, and one all-reduce of the embedding.
  CHECK(with / without == close_to(13.0 / 9).epsilon(1e-3));
}

TEST_CASE("tensor parallelism across nodes is about twice as slow as within one") {
  // Measured (vTrain's multi-node table): 18.4B, tp 16 dp 16: 20.4 s; tp 8 dp 32: 9.6 to 10.5 s.
  const ModelShape model = gpt(40, 6144, 48);
  const auto at = [&](std::int32_t tensor) {
    ParallelPlan plan = megatron(tensor, 1, 256 / tensor, 4, 1024 / 4 / (256 / tensor));
    plan.recompute = Recompute::full;
    NodeType node = a100_node();
    node.network = BytesPerSecond(100e9);
    return seconds(model, plan, {}, node);
  };
  CHECK(at(16) / at(8) > 1.5);
  CHECK(at(16) / at(8) < 2.5);
}

TEST_CASE("the first and the last stage sum their copies of a tied embedding") {
  ModelShape model = gpt(8, 4096, 32);
  const ParallelPlan plan = megatron(8, 4, 2, 1, 8);
  const auto tied = problem(model, plan);
  model.tied_embeddings = false;
  const auto untied = problem(model, plan);
  const double sum = 2 * 0.5 * 2 * 51200.0 / 8 * 4096 / (25e9 * 0.65); // 2 (n - 1) / n of fp16 gradients
  CHECK(tied.optimizer[0] - untied.optimizer[0] == close_to(sum).epsilon(0.02));
  CHECK(tied.optimizer[3] - untied.optimizer[3] == close_to(sum).epsilon(0.02));
  CHECK(tied.optimizer[1] == untied.optimizer[1]);
}

TEST_CASE("ZeRO-3 gathers and scatters in every micro-batch, FSDP's overlap hides most of it") {
  ModelShape model = gpt(4, 4096, 32);
  model.tied_embeddings = false;
  ParallelPlan plan = megatron(1, 1, 64, 4, 4);
  plan.zero = 3;
  const Breakdown exposed = estimate(model, plan).breakdown;
  // Two gathers and a scatter of 2 bytes a parameter, 4 times; 63 of 64 over the node's network.
  const double bytes = 3 * 2 * total_parameters(model) - 2 * 2 * 51200.0 * 4096; // root unit: gathered once
  CHECK(exposed.data_comm.base() == close_to(4 * 63.0 / 64 * bytes / (200e9 * 0.65)).epsilon(0.03));
  plan.overlap_grad_reduce = plan.overlap_param_gather = true;
  const Breakdown hidden = estimate(model, plan).breakdown;
  CHECK(hidden.data_comm < exposed.data_comm * 0.5);
  CHECK(hidden.data_comm > exposed.data_comm * 0.1); // interference, embedding and head
  CHECK(hidden.forward == exposed.forward);
}

TEST_CASE("ZeRO-1 gathers parameters after the update, or under the next forward pass") {
  const ModelShape model = gpt(8, 4096, 32);
  ParallelPlan plan = megatron(1, 1, 64, 8, 1);
  plan.zero = 1;
  plan.overlap_grad_reduce = true;
  const double gather = 63.0 / 64 * 2 * total_parameters(model) / (200e9 * 0.65);
  const Breakdown waits = estimate(model, plan).breakdown;
  CHECK(waits.data_comm.base() > gather);
  plan.overlap_param_gather = true;
  const Breakdown hides = estimate(model, plan).breakdown;
  REQUIRE(hides.forward.base() > gather); // so all of it is hidden, and interferes
  CHECK((waits.data_comm - hides.data_comm).base() == close_to(0.8 * gather).epsilon(0.02));
}

TEST_CASE("context-parallel ranks are late as data-parallel ones are") {
  const ModelShape model = gpt(8, 2048, 16);
  ParallelPlan plan = megatron(1, 1, 4, 1, 4);
  plan.attention = AttentionKernel::flash;
  plan.context = 2;
  ConstantValues constants = bare();
  const IterationEstimate out = estimate(model, plan, constants);
  constants[Constant::straggler] = 0.02;
  const Breakdown& parts = out.breakdown;
  const Seconds compute = parts.forward + parts.backward + parts.context_comm + parts.bubble;
  CHECK(seconds(model, plan, constants) - out.time.base() ==
        close_to(0.02 * std::sqrt(2 * std::log(8.0)) * compute.base()).epsilon(1e-6));
}

TEST_CASE("experts on other nodes cost more than on one") {
  const ModelShape model = mixture();
  ParallelPlan plan = megatron(1, 1, 64, 1, 2);
  plan.attention = AttentionKernel::flash;
  const auto with = [&](std::int32_t expert, std::int32_t tensor) {
    plan.expert = expert;
    plan.tensor = tensor;
    plan.data = 64 / tensor;
    plan.global_batch = 2 * plan.data;
    return estimate(model, plan).breakdown.expert_comm.base();
  };
  CHECK(with(1, 1) == 0.0);
  CHECK(with(8, 1) > 0.0);            // within a node
  CHECK(with(8, 8) * 8 > with(8, 1)); // 1/8 of the tokens a rank, all of it between nodes
}
