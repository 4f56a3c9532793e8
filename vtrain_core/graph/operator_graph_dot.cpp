// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "vtrain_core/graph/operator_graph.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/topological_sort.hpp>
#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace vtrain {
namespace {

struct Vertex {
  std::string label;
  const char* shape = "box";
};
struct Edge {
  const char* style = "solid";
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Edge>;

std::string amount(double value, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  for (; value >= 1000 && step + 1 < std::size(kPrefixes); ++step)
    value /= 1000;
  return fmt::format("{:.3g} {}{}", value, kPrefixes[step], unit);
}

std::string label_of(const Operator& op) {
  std::string text{op.name};
  switch (op.kind) {
  case OperatorKind::gemm:
  case OperatorKind::attention:
    if (op.phase == Phase::backward && op.kind == OperatorKind::gemm)
      text += op.weight_gradient ? ", weight gradient" : ", input gradient";
    text += fmt::format("\\n{:g} x {:g} x {:g}", op.m, op.n, op.k);
    if (op.batch != 1)
      text += fmt::format(", {:g} times", op.batch);
    text += "\\n" + amount(op.flops.base(), "FLOP") + ", " + amount(op.bytes.base(), "B");
    break;
  case OperatorKind::memory_bound: text += "\\n" + amount(op.bytes.base(), "B"); break;
  case OperatorKind::collective:
    text += fmt::format("\\n{} over {} ranks\\n{}", to_string(op.collective), to_string(op.group),
                        amount(op.bytes.base(), "B"));
    break;
  }
  return text;
}

Graph boost_graph(std::span<const Block> blocks) {
  Graph graph;
  for (const Block& block : blocks) {
    const std::size_t base = boost::num_vertices(graph);
    const auto& operators = block.graph.operators();
    for (const Operator& op : operators)
      boost::add_vertex(Vertex{label_of(op), op.kind == OperatorKind::collective ? "ellipse" : "box"}, graph);
    for (std::size_t i = 0; i < operators.size(); ++i)
      for (const int before : block.graph.predecessors(i)) {
        const bool saved = operators[static_cast<std::size_t>(before)].phase != operators[i].phase;
        boost::add_edge(base + static_cast<std::size_t>(before), base + i, Edge{saved ? "dashed" : "solid"},
                        graph);
      }
  }
  return graph;
}

void write_clusters(std::ostream& out, std::span<const Block> blocks) {
  std::size_t base = 0;
  for (const Block& block : blocks) {
    for (const Phase phase : {Phase::forward, Phase::recompute, Phase::backward}) {
      std::string members;
      for (std::size_t i = 0; i < block.graph.operators().size(); ++i)
        if (block.graph.operators()[i].phase == phase)
          members += fmt::format(" {};", base + i);
      if (!members.empty())
        out << fmt::format("subgraph \"cluster {0} {1}\" {{ label=\"{0} (x {2:g}), {1}\";{3} }}\n",
                           block.name, to_string(phase), block.count, members);
    }
    base += block.graph.operators().size();
  }
}
} // namespace

void write_dot(std::ostream& out, std::span<const Block> blocks) {
  const Graph graph = boost_graph(blocks);
  std::vector<Graph::vertex_descriptor> order;
  boost::topological_sort(graph, std::back_inserter(order)); // throws not_a_dag
  VTRAIN_ASSERT(order.size() == boost::num_vertices(graph), "every operator has a place in the order");
  boost::write_graphviz(
      out, graph,
      [&](std::ostream& o, Graph::vertex_descriptor v) {
        o << "[label=\"" << graph[v].label << "\", shape=" << graph[v].shape << "]";
      },
      [&](std::ostream& o, Graph::edge_descriptor e) { o << "[style=" << graph[e].style << "]"; },
      [&](std::ostream& o) {
        o << "rankdir=TB;\nnode [fontsize=10];\n";
        write_clusters(o, blocks);
      });
}

} // namespace vtrain
