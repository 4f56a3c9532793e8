// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/cost/analytic_cost.hpp"
#include "vtrain_core/estimate/phase_time.hpp"
#include "vtrain_core/graph/model_operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// Counts how often it is asked; an operator takes as many seconds as it moves bytes.
class CountingCost final : public CostModel {
public:
  [[nodiscard]] Price price(const Operator& op) const override {
    ++asked;
    return {Seconds(op.bytes.base()), PriceOrigin::measured};
  }
  mutable int asked = 0;
};

/// A graph by hand, with the time of each operator.
class Play {
public:
  int compute(double seconds, std::initializer_list<int> after = {}, Phase phase = Phase::forward) {
    Operator op;
    op.phase = phase;
    return add(op, seconds, after);
  }
  int weight_gradient(double seconds, std::initializer_list<int> after) {
    Operator op;
    op.kind = OperatorKind::gemm;
    op.weight_gradient = true;
    return add(op, seconds, after);
  }
  int collective(double seconds, std::initializer_list<int> after, Group group = Group::tensor,
                 int beside = -1) {
    Operator op;
    op.kind = OperatorKind::collective;
    op.group = group;
    op.beside = static_cast<std::int16_t>(beside);
    return add(op, seconds, after);
  }
  void interference(double share) { constants_[Constant::overlap_interference] = share; }
  void launch_floor(double seconds, double backward_ratio) {
    constants_[Constant::layer_launch] = seconds;
    constants_[Constant::backward_launch_ratio] = backward_ratio;
  }
  void defer_weight_gradients() { defer_ = true; }

  [[nodiscard]] BlockTime time(bool layer = false) const {
    return time_block(graph_, prices_, pricing(), layer);
  }
  [[nodiscard]] std::vector<pipeline::Piece> pieces() const {
    return pass_pieces(graph_, prices_, pricing(), Phase::forward);
  }

private:
  int add(const Operator& op, double seconds, std::initializer_list<int> after) {
    prices_.push_back({Seconds(seconds), PriceOrigin::analytic});
    return graph_.add(op, after);
  }
  [[nodiscard]] Pricing pricing() const { return {cost_, collectives_, layout_, constants_, defer_}; }

  OperatorGraph graph_;
  std::vector<Price> prices_;
  ConstantValues constants_;
  bool defer_ = false;
  CountingCost cost_;
  Collectives collectives_{node_type("dgx-a100-80g"), constants_};
  RankLayout layout_{ParallelPlan{}, 8};
};

double seconds(Seconds time) {
  return time.base();
}

/// Compute, exposed tensor, context and expert communication of a forward pass.
void check_forward(const Play& play, std::array<double, 4> expected) {
  const PassTime time = play.time().forward;
  CHECK(seconds(time.compute) == close_to(expected[0]));
  CHECK(seconds(time.tensor) == close_to(expected[1]));
  CHECK(seconds(time.context) == close_to(expected[2]));
  CHECK(seconds(time.expert) == close_to(expected[3]));
  CHECK(time.launch == Seconds(0));
  double pieces = 0;
  for (const pipeline::Piece& piece : play.pieces())
    pieces += piece.share;
  CHECK(pieces == close_to(expected[0] + expected[1] + expected[2] + expected[3]));
}

} // namespace

TEST_CASE("what waits for each other takes the sum of its times") {
  Play play;
  const int a = play.compute(2);
  const int sum = play.collective(3, {a});
  play.compute(5, {sum});
  check_forward(play, {7, 3, 0, 0});
  const std::vector<pipeline::Piece> pieces = play.pieces();
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[1].share == close_to(3));
  CHECK(pieces[1].tensor_communication);
  CHECK_FALSE(pieces[2].tensor_communication);
}

TEST_CASE("a collective that nobody waits for yet runs under the computation") {
  for (const auto& [communication, exposed] : {std::pair{3.0, 0.0}, std::pair{7.0, 2.0}}) {
    Play play;
    const int a = play.compute(2);
    const int sum = play.collective(communication, {a});
    const int b = play.compute(5, {a});
    play.compute(1, {b, sum});
    check_forward(play, {8, exposed, 0, 0});
  }
}

TEST_CASE("a collective that ends a pass is exposed by what sticks out") {
  Play play;
  const int a = play.compute(2);
  play.collective(3, {a});
  check_forward(play, {2, 3, 0, 0});
  play.compute(1, {a});
  check_forward(play, {3, 2, 0, 0});
}

TEST_CASE("side by side, computation and communication slow each other by a share of the shorter") {
  for (const auto& [communication, exposed] :
       {std::pair{4.0, 0.2 * 4}, std::pair{20.0, 0.2 * 10 + (20 + 2 - 12)}}) {
    Play play;
    play.interference(0.2);
    const int a = play.compute(10);
    play.collective(communication, {}, Group::tensor, a);
    check_forward(play, {10, exposed, 0, 0});
  }
}

TEST_CASE("collectives of a group queue, those of other groups do not") {
  Play queue;
  const int a = queue.compute(1);
  queue.collective(4, {a});
  queue.collective(4, {a});
  check_forward(queue, {1, 8, 0, 0});
  Play both;
  const int b = both.compute(1);
  both.collective(4, {b});
  both.collective(6, {b}, Group::context);
  check_forward(both, {1, 0, 6, 0}); // the last one is what the pass waits for
}

TEST_CASE("a wait counts for the group that ends last") {
  Play play;
  const int a = play.compute(1);
  const int experts = play.collective(3, {a}, Group::expert);
  const int tensor = play.collective(2, {a}, Group::tensor);
  play.compute(1, {experts, tensor});
  check_forward(play, {2, 0, 0, 3});
}

TEST_CASE("weight gradients that are put off hide no communication") {
  const auto build = [](Play& play) {
    const int input = play.compute(3);
    play.weight_gradient(4, {input});
    const int sum = play.collective(2, {input});
    play.compute(1, {sum});
  };
  Play at_once;
  build(at_once);
  CHECK(seconds(at_once.time().forward.total()) == close_to(8));
  CHECK(seconds(at_once.time().forward.weight_gradient) == close_to(4));
  Play put_off;
  put_off.defer_weight_gradients();
  build(put_off);
  CHECK(seconds(put_off.time().forward.compute) == close_to(4));
  CHECK(seconds(put_off.time().forward.tensor) == close_to(2));
  CHECK(seconds(put_off.time().forward.weight_gradient) == close_to(4));
  // Nor do they slow what would have run beside them.
  Play beside;
  beside.interference(0.5);
  beside.defer_weight_gradients();
  const int input = beside.compute(3);
  const int gradient = beside.weight_gradient(4, {input});
  beside.collective(2, {input}, Group::tensor, gradient);
  CHECK(seconds(beside.time().forward.total()) == close_to(5));
}

TEST_CASE("passes are played one by one: what an earlier pass left is there") {
  Play play;
  const int a = play.compute(10);
  const int again = play.compute(4, {a}, Phase::recompute);
  play.compute(7, {a, again}, Phase::backward);
  const BlockTime time = play.time();
  CHECK(seconds(time.forward.total()) == close_to(10));
  CHECK(seconds(time.recompute.total()) == close_to(4));
  CHECK(seconds(time.backward.total()) == close_to(7));
}

TEST_CASE("a layer lasts at least as long as the host needs to launch its kernels") {
  Play play;
  play.launch_floor(3, 2);
  const int a = play.compute(1);
  play.collective(5, {a});
  play.compute(0.5, {a}, Phase::recompute);
  play.compute(8, {a}, Phase::backward);
  const BlockTime layer = play.time(true);
  CHECK(seconds(layer.forward.launch) == close_to(2)); // of the kernels; the sum comes on top
  CHECK(seconds(layer.forward.total()) == close_to(8));
  CHECK(seconds(layer.recompute.launch) == close_to(1)); // half a forward pass' kernels: 1.5
  CHECK(layer.backward.launch == Seconds(0));            // 8 > 2 x 3
  CHECK(play.time(false).forward.launch == Seconds(0));
  Play idle;
  idle.launch_floor(3, 2);
  idle.compute(1);
  CHECK(idle.time(true).recompute.launch == Seconds(0)); // nothing is recomputed
  CHECK(seconds(idle.time(true).backward.launch) == close_to(6));
}

TEST_CASE("a recomputed operator is priced once, with its forward twin") {
  ParallelPlan plan = megatron(4, 1, 1, 1, 1);
  plan.recompute = Recompute::full;
  const OperatorGraph graph = model_operators(gpt(2, 1024, 16), plan).layer.graph;
  const CountingCost cost;
  const ConstantValues constants;
  const Collectives collectives(node_type("dgx-a100-80g"), constants);
  const RankLayout layout(plan, 8);
  const std::vector<Price> prices = price_operators(graph, {cost, collectives, layout, constants});
  int computed = 0;
  int again = 0;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const Operator& op = graph.operators()[i];
    if (op.kind == OperatorKind::collective) {
      CHECK(prices[i].time == collectives.ring(op.collective, op.bytes, layout.tensor()));
      continue;
    }
    ++computed;
    again += op.phase == Phase::recompute ? 1 : 0;
    CHECK(prices[i].time == Seconds(op.bytes.base()));
    CHECK(prices[i].origin == PriceOrigin::measured);
  }
  CHECK(again > 5);
  CHECK(cost.asked == computed - again);
}

TEST_CASE("collectives are priced for the group and the nodes that they run on") {
  ModelShape model = mixture();
  ParallelPlan plan = megatron(16, 1, 8, 1, 1);
  plan.attention = AttentionKernel::flash;
  plan.context = 2;
  plan.expert = 4;
  const OperatorGraph graph = model_operators(model, plan).moe->graph;
  const CountingCost cost;
  const ConstantValues constants;
  const Collectives collectives(node_type("dgx-a100-80g"), constants);
  const RankLayout layout(plan, 8);
  const std::vector<Price> prices = price_operators(graph, {cost, collectives, layout, constants});
  std::array<int, 3> seen{};
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const Operator& op = graph.operators()[i];
    if (op.kind != OperatorKind::collective)
      continue;
    ++seen[static_cast<std::size_t>(op.group)];
    // A tensor-parallel group of two nodes sums inside them first.
    const Seconds expected =
        op.group == Group::tensor    ? collectives.hierarchical(op.collective, op.bytes, layout.tensor())
        : op.group == Group::context ? collectives.ring(op.collective, op.bytes, layout.context())
                                     : collectives.ring(op.collective, op.bytes, layout.expert());
    CHECK(prices[i].time == expected);
  }
  CHECK(seen == std::array{4, 2, 4});
}

TEST_CASE("the pieces of any pass sum to it, and a pass is between its busiest stream and all of them") {
  const NodeType node = node_type("dgx-h100");
  const ConstantValues constants;
  const AnalyticCost cost(node.gpu, constants);
  const Collectives collectives(node, constants);
  CaseDraw draw("pieces");
  for (int i = 0; i < 300; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    const RankLayout layout(plan, 8);
    const Pricing pricing{cost, collectives, layout, constants, draw.coin()};
    for (const Block& block : model_operators(model, plan, draw_habits(draw)).blocks()) {
      const std::vector<Price> prices = price_operators(block.graph, pricing);
      const BlockTime time = time_block(block.graph, prices, pricing, false);
      for (const auto& [phase, pass] :
           {std::pair{Phase::forward, &time.forward}, std::pair{Phase::recompute, &time.recompute},
            std::pair{Phase::backward, &time.backward}}) {
        double computing = 0;
        double communicating = 0;
        for (const pipeline::Piece& piece : pass_pieces(block.graph, prices, pricing, phase))
          (piece.tensor_communication ? communicating : computing) += piece.share;
        CHECK(computing == close_to(pass->compute.base()).epsilon(1e-12));
        CHECK(communicating == close_to((pass->tensor + pass->context + pass->expert).base()).epsilon(1e-9));
        std::array<double, 4> streams{}; // of the groups, and compute
        for (std::size_t x = 0; x < prices.size(); ++x) {
          const Operator& op = block.graph.operators()[x];
          if (op.phase == phase && !(op.weight_gradient && pricing.defer_weight_gradient))
            streams[op.kind == OperatorKind::collective ? static_cast<std::size_t>(op.group) : 3] +=
                prices[x].time.base();
        }
        const double total = pass->total().base();
        CHECK(total >= std::ranges::max(streams) * (1 - 1e-12));
        CHECK(total <= (streams[0] + streams[1] + streams[2] + streams[3]) * (1 + 1e-12));
        CHECK(pass->compute.base() == close_to(streams[3]).epsilon(1e-12));
      }
    }
  }
}
