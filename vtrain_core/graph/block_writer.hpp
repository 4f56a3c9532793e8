// SPDX-License-Identifier: MIT
// Writes the operators of a block in program order: knows what each depends on and which collectives sequence
// and tensor parallelism make of a layer's boundaries.
#pragma once

#include "vtrain_core/graph/operator_graph.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace vtrain {

/// Sizes of a matrix product: (m x k) times (k x n).
struct GemmShape {
  double m;
  double n;
  double k;
};

/// Appends operators to a graph. Unless said otherwise an operator waits for the one written before it.
/// Collectives of groups of one rank are left out. Sizes of collectives are in elements of 16 bits.
class BlockWriter {
public:
  explicit BlockWriter(const ParallelPlan& plan) : plan_(plan) {}

  /// Later operators belong to `phase`.
  void begin(Phase phase);
  /// Later GEMMs stay in 16 bits under fp8.
  void full_precision() { low_precision_ = false; }

  int memory(std::string_view name, double bytes);
  int gemm(std::string_view name, GemmShape shape, double batch = 1);
  int batched_gemm(std::string_view name, GemmShape shape, double batch);
  /// A fused attention kernel: `shape` is that of the scores, `work` 1 forward and 2.5 backward (arXiv
  /// 2205.14135: five products instead of two). Half of the scores are masked and skipped.
  int flash(std::string_view name, GemmShape shape, double batch, double work);
  /// The two products of a linear layer's backward pass, input gradient first. Shape of the forward product.
  void backward_gemms(std::string_view name, GemmShape shape, double batch = 1);
  /// The first of them alone; the second is written by weight_gradient or reduce_beside_weight_gradient.
  void input_gradient(std::string_view name, GemmShape shape, double batch = 1);
  /// Sequence parallelism stores the layer's input split; it is gathered again while the input gradient is
  /// made.
  void regather_beside_input_gradient(std::string_view name, double elements);
  int weight_gradient();
  /// The input gradient is summed over the tensor ranks: after the weight gradient is made, or while it is
  /// made where the plan overlaps the two, as sequence parallelism always does with its reduce-scatter.
  void reduce_beside_weight_gradient(std::string_view name, double elements);

  /// End of a row-parallel layer: all-reduce, or reduce-scatter under sequence parallelism.
  void reduce(std::string_view name, double elements);
  /// Start of a column-parallel layer: an all-gather under sequence parallelism, else nothing.
  void gather_sequence(std::string_view name, double elements);
  /// An all-reduce that sequence parallelism does not change.
  void reduce_small(std::string_view name, double elements);
  void exchange_experts(std::string_view name, double elements);
  /// A collective that runs at the same time as the compute operator `compute`, and ends before the next
  /// operator.
  void beside(int compute, std::string_view name, CollectiveKind kind, Group group, double bytes);

  [[nodiscard]] OperatorGraph graph() && { return std::move(graph_); }

private:
  int append(Operator op);
  int append_gemm(const Operator& op);
  void cast(GemmShape shape, double batch, double passes);
  [[nodiscard]] int twin(const Operator& op) const;
  void collective(std::string_view name, CollectiveKind kind, Group group, double bytes);
  [[nodiscard]] Operator product(std::string_view name, GemmShape shape, double batch) const;

  const ParallelPlan& plan_;
  OperatorGraph graph_;
  Phase phase_ = Phase::forward;
  bool low_precision_ = true;
  int last_ = -1;           ///< what the next operator waits for
  int last_too_ = -1;       ///< and this, if there is one
  int forward_end_ = -1;    ///< first operator of the backward pass
  int input_gradient_ = -1; ///< the last one written
  Operator pending_weight_gradient_;
  std::optional<Operator> pending_gather_; ///< waits for the GEMM that it runs beside
};

} // namespace vtrain
