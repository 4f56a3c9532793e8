// SPDX-License-Identifier: MIT
// Operators and their dependencies. Operators are added in an order in which they can run, so an index is
// also a place in the program of its stream.
#pragma once

#include "vtrain_core/graph/operator.hpp"

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace vtrain {

/// A directed acyclic graph of operators, stored in topological order.
class OperatorGraph {
public:
  /// Adds an operator that runs after `after` (indices of operators added before); returns its index.
  int add(const Operator& op, std::initializer_list<int> after = {});
  [[nodiscard]] const std::vector<Operator>& operators() const { return operators_; }
  /// What an operator waits for.
  [[nodiscard]] std::span<const int> predecessors(std::size_t index) const {
    return {edges_.data() + first_edge_[index], edges_.data() + first_edge_[index + 1]};
  }
  /// Lets the operator at `index` be changed (its price group, the operator it runs beside).
  [[nodiscard]] Operator& at(int index) { return operators_[static_cast<std::size_t>(index)]; }

private:
  std::vector<Operator> operators_;
  std::vector<int> edges_;
  std::vector<std::size_t> first_edge_{0};
};

/// A repeated part of the model: a layer, the embedding, the head (final norm, logits, loss).
struct Block {
  std::string_view name;
  double count = 0; ///< how often it occurs in the whole model
  OperatorGraph graph;
};

/// vTrain's "necessary operators" (arXiv 2312.12391): every distinct operator of the blocks once, with the
/// number of times that one iteration's micro-batch runs it over the whole model. In order of first use.
struct NecessaryOperator {
  Operator op;
  double uses = 0;
};
[[nodiscard]] std::vector<NecessaryOperator> necessary_operators(std::span<const Block> blocks);

/// Writes the blocks as one Graphviz digraph: a cluster for each block and phase, each operator with its
/// shape, FLOPs and bytes, dashed edges for activations that the backward pass reads. Deterministic.
void write_dot(std::ostream& out, std::span<const Block> blocks);

} // namespace vtrain
