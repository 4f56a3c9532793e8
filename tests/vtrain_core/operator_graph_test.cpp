// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/graph/model_operators.hpp"
#include "vtrain_core/graph/operator_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr int kDraws = 300;

Operator memory(std::string_view name, double bytes) {
  Operator op;
  op.name = name;
  op.bytes = Bytes(bytes);
  return op;
}

Operator gemm(double m, double n, double k) {
  Operator op;
  op.name = "product";
  op.kind = OperatorKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = Flops(2 * m * n * k);
  op.bytes = Bytes(2 * (m * n + m * k + n * k));
  return op;
}

std::string dot(std::span<const Block> blocks) {
  std::ostringstream out;
  write_dot(out, blocks);
  return std::move(out).str();
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

struct Case {
  ModelShape model;
  ParallelPlan plan;
  std::vector<Block> blocks;
};

Case draw_case(CaseDraw& draw) {
  static const NodeType node = node_type("dgx-h100");
  Case out{draw.model(), {}, {}};
  out.plan = draw.plan(out.model, node.gpu);
  out.blocks = model_operators(out.model, out.plan, draw_habits(draw)).blocks();
  return out;
}

} // namespace

TEST_CASE("operators keep their place and know what they wait for") {
  OperatorGraph graph;
  CHECK(graph.add(memory("a", 1)) == 0);
  CHECK(graph.add(memory("b", 2), {0}) == 1);
  CHECK(graph.add(memory("c", 3)) == 2);
  CHECK(graph.add(memory("d", 4), {1, 2}) == 3);
  CHECK(graph.operators().size() == 4);
  CHECK(graph.operators()[3].bytes == Bytes(4));
  CHECK(graph.predecessors(0).empty());
  CHECK(graph.predecessors(2).empty());
  CHECK(std::ranges::equal(graph.predecessors(1), std::vector<int>{0}));
  CHECK(std::ranges::equal(graph.predecessors(3), std::vector<int>{1, 2}));
}

TEST_CASE("an operator cannot wait for itself or for what comes later") {
  OperatorGraph graph;
  graph.add(memory("a", 1));
  CHECK_THROWS_AS(graph.add(memory("b", 1), {1}), InternalError);
  CHECK_THROWS_AS(graph.add(memory("b", 1), {-1}), InternalError);
}

TEST_CASE("the operators of any model and plan are a connected graph in topological order") {
  CaseDraw draw("graphs");
  for (int i = 0; i < kDraws; ++i) {
    const Case one = draw_case(draw);
    CAPTURE(describe(one.plan));
    for (const Block& block : one.blocks) {
      const auto& operators = block.graph.operators();
      REQUIRE_FALSE(operators.empty());
      for (std::size_t x = 0; x < operators.size(); ++x) {
        CAPTURE(operators[x].name);
        const auto before = block.graph.predecessors(x);
        CHECK(std::ranges::all_of(before, [x](int b) { return b >= 0 && static_cast<std::size_t>(b) < x; }));
        CHECK(std::set(before.begin(), before.end()).size() == before.size());
        CHECK((x == 0 || !before.empty() || operators[x].beside == 0));
        CHECK(operators[x].bytes > Bytes(0));
      }
      // No operator of a pass is before one of an earlier pass.
      CHECK(std::ranges::is_sorted(operators, {}, &Operator::phase));
    }
  }
}

TEST_CASE("a collective runs beside an operator that computes, in the same pass and after the same inputs") {
  CaseDraw draw("beside");
  int seen = 0;
  for (int i = 0; i < kDraws; ++i)
    for (const Block& block : draw_case(draw).blocks) {
      const auto& operators = block.graph.operators();
      for (std::size_t x = 0; x < operators.size(); ++x) {
        if (operators[x].beside < 0)
          continue;
        ++seen;
        const auto beside = static_cast<std::size_t>(operators[x].beside);
        REQUIRE(beside < operators.size());
        CHECK(operators[x].kind == OperatorKind::collective);
        CHECK(operators[beside].kind != OperatorKind::collective);
        CHECK(operators[beside].phase == operators[x].phase);
        const auto inputs = block.graph.predecessors(beside);
        for (const int before : block.graph.predecessors(x))
          CHECK(std::ranges::find(inputs, before) != inputs.end());
      }
    }
  CHECK(seen > kDraws);
}

TEST_CASE("what follows a sum of gradients waits for the sum") {
  ParallelPlan plan = megatron(4, 1, 1, 1, 1);
  for (const auto& [split, beside] :
       {std::pair{false, false}, std::pair{false, true}, std::pair{true, false}}) {
    plan.sequence_parallel = split;
    plan.overlap_input_gradient = beside;
    const OperatorGraph graph = model_operators(gpt(2, 1024, 16), plan).layer.graph;
    const auto& operators = graph.operators();
    for (const auto& [sum, next] :
         {std::pair{"reduce gradient 2", "norm 2"}, std::pair{"reduce gradient 1", "norm 1"}}) {
      const auto last = [&](std::string_view name) { // the backward pass comes last
        const auto at = std::ranges::find(operators.rbegin(), operators.rend(), name, &Operator::name);
        REQUIRE(at != operators.rend());
        return static_cast<int>(operators.rend() - at) - 1;
      };
      const auto before = graph.predecessors(static_cast<std::size_t>(last(next)));
      CHECK(std::ranges::find(before, last(sum)) != before.end());
      CHECK(std::ranges::none_of(
          before, [&](int b) { return operators[static_cast<std::size_t>(b)].weight_gradient; }));
    }
  }
}

TEST_CASE("a recomputed operator equals the one that it says it is the same as") {
  CaseDraw draw("twins");
  int seen = 0;
  for (int i = 0; i < kDraws; ++i)
    for (const Block& block : draw_case(draw).blocks) {
      const auto& operators = block.graph.operators();
      for (const Operator& op : operators) {
        CHECK((op.same_as >= 0) ==
              (op.phase == Phase::recompute && op.kind != OperatorKind::collective)); // every one has a twin
        if (op.same_as < 0)
          continue;
        ++seen;
        const Operator& twin = operators[static_cast<std::size_t>(op.same_as)];
        CHECK(twin.phase == Phase::forward);
        CHECK(twin.name == op.name);
        CHECK(twin.kind == op.kind);
        CHECK(twin.low_precision == op.low_precision);
        CHECK(twin.attention_core == op.attention_core);
        CHECK(std::array{twin.m, twin.n, twin.k, twin.batch, twin.flops.base(), twin.bytes.base()} ==
              std::array{op.m, op.n, op.k, op.batch, op.flops.base(), op.bytes.base()});
      }
    }
  CHECK(seen > kDraws);
}

TEST_CASE("necessary operators are one of each, and their uses are all of the model's operators") {
  CaseDraw draw("necessary");
  for (int i = 0; i < kDraws; ++i) {
    const Case one = draw_case(draw);
    CAPTURE(describe(one.plan));
    const std::vector<NecessaryOperator> necessary = necessary_operators(one.blocks);
    double uses = 0;
    double flops = 0;
    for (const NecessaryOperator& each : necessary) {
      uses += each.uses;
      flops += each.uses * each.op.flops.base();
    }
    double all = 0;
    double all_flops = 0;
    std::size_t written = 0;
    for (const Block& block : one.blocks) {
      written += block.graph.operators().size();
      for (const Operator& op : block.graph.operators()) {
        all += block.count;
        all_flops += block.count * op.flops.base();
      }
    }
    CHECK(uses == close_to(all).epsilon(1e-12));
    CHECK(flops == close_to(all_flops).epsilon(1e-12));
    CHECK(necessary.size() < written); // at least the two products of a backward pass with equal shapes
  }
}

TEST_CASE("two operators are alike when their price is") {
  Block block{"layer", 3.0, {}};
  block.graph.add(gemm(64, 60, 64));
  Operator again = gemm(64, 60, 64);
  again.name = "another";
  again.phase = Phase::backward;
  block.graph.add(again);
  Operator core = gemm(64, 60, 64); // costs more where 60 is no multiple of 8
  core.attention_core = true;
  block.graph.add(core);
  Operator fp8 = gemm(64, 60, 64);
  fp8.low_precision = true;
  block.graph.add(fp8);
  block.graph.add(gemm(60, 64, 64));
  const std::vector<NecessaryOperator> necessary = necessary_operators({&block, 1});
  REQUIRE(necessary.size() == 4);
  CHECK(necessary[0].uses == 6.0);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(necessary[i].uses == 3.0);
}

TEST_CASE("the necessary operators of a model do not depend on its depth") {
  const ParallelPlan plan = megatron(4, 1, 1, 2, 1);
  const auto at = [&](std::int64_t layers) {
    return necessary_operators(model_operators(gpt(layers, 1024, 16), plan).blocks());
  };
  const auto shallow = at(2);
  const auto deep = at(96);
  REQUIRE(shallow.size() == deep.size());
  // arXiv 2312.12391: one layer is profiled whatever the number of layers.
  CHECK(shallow.size() < 30);
}

TEST_CASE("a graph in DOT has one vertex for each operator and one edge for each dependency") {
  CaseDraw draw("dot");
  for (int i = 0; i < 20; ++i) {
    const Case one = draw_case(draw);
    const std::string text = dot(one.blocks);
    std::size_t vertices = 0;
    std::size_t edges = 0;
    for (const Block& block : one.blocks) {
      vertices += block.graph.operators().size();
      for (std::size_t x = 0; x < block.graph.operators().size(); ++x)
        edges += block.graph.predecessors(x).size();
    }
    CHECK(text.starts_with("digraph"));
    CHECK(count(text, "[label=") == vertices);
    CHECK(count(text, "->") == edges);
    CHECK(count(text, "{") == count(text, "}"));
    CHECK(dot(one.blocks) == text);
  }
}

TEST_CASE("a graph in DOT names shapes, work and collectives") {
  const std::string text = dot(model_operators(gpt(4, 1024, 16), megatron(2, 1, 1, 1, 1)).blocks());
  CHECK(text.find("qkv\\n2048 x 1536 x 1024\\n6.44 GFLOP, ") != std::string::npos);
  CHECK(text.find("reduce 1\\nall_reduce over tensor ranks\\n4.19 MB") != std::string::npos);
  CHECK(text.find("label=\"layer (x 4), backward\"") != std::string::npos);
  CHECK(text.find("[style=dashed]") != std::string::npos); // activations that the backward pass reads
}
