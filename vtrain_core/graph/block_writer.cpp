// SPDX-License-Identifier: MIT
#include "vtrain_core/graph/block_writer.hpp"

#include "vtrain_core/graph/element_bytes.hpp"

#include <algorithm>

namespace vtrain {
namespace {
// Bytes to bring an element of a GEMM's operand to fp8, beyond the kernel that makes it: fused casts write
// the fp8 value and its transpose. Weights are cast once an iteration.
constexpr double kCast = 2;
} // namespace

void BlockWriter::begin(Phase phase) {
  if (phase == Phase::backward)
    forward_end_ = static_cast<int>(graph_.operators().size());
  phase_ = phase;
}

/// Recomputed operators equal their forward twin; backward operators read what the twin left behind.
int BlockWriter::twin(const Operator& op) const {
  if (phase_ == Phase::forward || op.kind == OperatorKind::collective)
    return -1;
  const auto& all = graph_.operators();
  const bool again = phase_ == Phase::recompute;
  const int end = again ? static_cast<int>(all.size()) : forward_end_;
  for (int i = end - 1; i >= 0; --i) {
    const Operator& other = all[static_cast<std::size_t>(i)];
    const bool equal = other.phase == Phase::forward && other.flops == op.flops && other.bytes == op.bytes;
    if (other.name == op.name && (!again || equal))
      return i;
  }
  return -1;
}

int BlockWriter::append(Operator op) {
  op.phase = phase_;
  const int saved = twin(op);
  if (phase_ == Phase::recompute)
    op.same_as = static_cast<std::int16_t>(saved);
  int index = 0;
  const bool reads_saved = phase_ == Phase::backward && saved >= 0 && saved != last_;
  if (last_ < 0)
    index = reads_saved ? graph_.add(op, {saved}) : graph_.add(op);
  else if (last_too_ < 0)
    index = reads_saved ? graph_.add(op, {last_, saved}) : graph_.add(op, {last_});
  else
    index = reads_saved ? graph_.add(op, {last_, last_too_, saved}) : graph_.add(op, {last_, last_too_});
  last_ = index;
  last_too_ = -1;
  return index;
}

int BlockWriter::memory(std::string_view name, double bytes) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::memory_bound;
  op.bytes = Bytes(bytes);
  return append(op);
}

Operator BlockWriter::product(std::string_view name, GemmShape shape, double batch) const {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::gemm;
  op.m = shape.m;
  op.n = shape.n;
  op.k = shape.k;
  op.batch = batch;
  op.low_precision = low_precision_ && plan_.precision == Precision::fp8;
  set_gemm_work(op);
  return op;
}

/// Before fp8 GEMMs of a linear layer: `passes` is 1 forward and 2 backward.
void BlockWriter::cast(GemmShape shape, double batch, double passes) {
  if (low_precision_ && plan_.precision == Precision::fp8) {
    const double weights = shape.n * shape.k / static_cast<double>(plan_.micro_batches());
    memory("cast to fp8", passes * kCast * batch * (shape.m * shape.k + weights));
  }
}

int BlockWriter::gemm(std::string_view name, GemmShape shape, double batch) {
  cast(shape, batch, 1.0);
  return append_gemm(product(name, shape, batch));
}

/// Under overlap_tensor the gather in front of a GEMM runs beside it.
int BlockWriter::append_gemm(const Operator& op) {
  const int index = append(op);
  if (pending_gather_) {
    const Operator gather = *pending_gather_;
    pending_gather_.reset();
    beside(index, gather.name, gather.collective, gather.group, gather.bytes.base());
  }
  return index;
}

int BlockWriter::batched_gemm(std::string_view name, GemmShape shape, double batch) {
  Operator op = product(name, shape, batch);
  op.attention_core = true;
  op.low_precision = false;
  set_gemm_work(op);
  return append(op);
}

int BlockWriter::flash(std::string_view name, GemmShape shape, double batch, double work) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::attention;
  op.m = shape.m;
  op.n = shape.n;
  op.k = shape.k;
  op.batch = batch;
  op.flops = Flops(0.5 * work * 4 * shape.m * shape.n * shape.k * batch);
  op.bytes = Bytes(kElement * batch * shape.k * (2 * shape.m + 2 * shape.n) * (work > 1 ? 2 : 1));
  return append(op);
}

void BlockWriter::backward_gemms(std::string_view name, GemmShape shape, double batch) {
  input_gradient(name, shape, batch);
  weight_gradient();
}

void BlockWriter::input_gradient(std::string_view name, GemmShape shape, double batch) {
  cast(shape, batch, 2.0);
  const int index = append_gemm(product(name, {shape.m, shape.k, shape.n}, batch));
  pending_weight_gradient_ = product(name, {shape.n, shape.k, shape.m}, batch);
  pending_weight_gradient_.weight_gradient = true;
  pending_weight_gradient_.phase = Phase::backward;
  input_gradient_ = index;
}

void BlockWriter::regather_beside_input_gradient(std::string_view name, double elements) {
  if (plan_.tensor > 1 && plan_.sequence_parallel)
    beside(input_gradient_, name, CollectiveKind::all_gather, Group::tensor, kElement * elements);
}

int BlockWriter::weight_gradient() {
  const int index = last_too_ < 0 ? graph_.add(pending_weight_gradient_, {input_gradient_})
                                  : graph_.add(pending_weight_gradient_, {input_gradient_, last_too_});
  last_ = input_gradient_;
  last_too_ = -1;
  return index;
}

void BlockWriter::reduce_beside_weight_gradient(std::string_view name, double elements) {
  if (plan_.tensor == 1) {
    weight_gradient();
    return;
  }
  if (!plan_.sequence_parallel && !plan_.overlap_input_gradient && !plan_.overlap_tensor) {
    last_ = weight_gradient(); // nothing computes while the sum is made
    reduce(name, elements);
    return;
  }
  const int gradient = weight_gradient();
  beside(gradient, name,
         plan_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, Group::tensor,
         kElement * elements);
  last_ = last_too_; // what follows needs the sum, not the weight gradient
  last_too_ = -1;
}

void BlockWriter::collective(std::string_view name, CollectiveKind kind, Group group, double bytes) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::collective;
  op.collective = kind;
  op.group = group;
  op.bytes = Bytes(bytes);
  append(op);
}

void BlockWriter::beside(int compute, std::string_view name, CollectiveKind kind, Group group, double bytes) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::collective;
  op.phase = phase_;
  op.collective = kind;
  op.group = group;
  op.bytes = Bytes(bytes);
  op.beside = static_cast<std::int16_t>(compute);
  const std::span<const int> same = graph_.predecessors(static_cast<std::size_t>(compute));
  last_ = compute;
  last_too_ = same.empty() ? graph_.add(op) : graph_.add(op, {same.front()});
}

void BlockWriter::reduce(std::string_view name, double elements) {
  if (plan_.tensor == 1)
    return;
  const CollectiveKind kind =
      plan_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const bool after_gemm =
      last_ >= 0 && graph_.operators()[static_cast<std::size_t>(last_)].kind == OperatorKind::gemm;
  if (plan_.overlap_tensor && after_gemm && last_too_ < 0)
    beside(last_, name, kind, Group::tensor, kElement * elements);
  else
    collective(name, kind, Group::tensor, kElement * elements);
}

void BlockWriter::gather_sequence(std::string_view name, double elements) {
  if (plan_.tensor == 1 || !plan_.sequence_parallel)
    return;
  if (!plan_.overlap_tensor) {
    collective(name, CollectiveKind::all_gather, Group::tensor, kElement * elements);
    return;
  }
  Operator gather;
  gather.name = name;
  gather.collective = CollectiveKind::all_gather;
  gather.group = Group::tensor;
  gather.bytes = Bytes(kElement * elements);
  pending_gather_ = gather;
}

void BlockWriter::reduce_small(std::string_view name, double elements) {
  if (plan_.tensor > 1)
    collective(name, CollectiveKind::all_reduce, Group::tensor, kElement * elements);
}

void BlockWriter::exchange_experts(std::string_view name, double elements) {
  if (plan_.expert > 1)
    collective(name, CollectiveKind::all_to_all, Group::expert, kElement * elements);
}

} // namespace vtrain
