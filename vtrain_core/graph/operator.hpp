// SPDX-License-Identifier: MIT
// An operator of the training graph: what one GPU computes or communicates, with shape, work and traffic.
#pragma once

#include "common/units.hpp"

#include <cstdint>
#include <string_view>

namespace vtrain {

/// How an operator is priced. gemm: a matrix product, batched or not. attention: a fused attention kernel.
/// memory_bound: element-wise work, norms, softmax, lookups. collective: communication within a group.
enum class OperatorKind : std::uint8_t { gemm, attention, memory_bound, collective };

/// Which pass an operator belongs to.
enum class Phase : std::uint8_t { forward, recompute, backward };

/// What a collective does. Sizes are those of the whole tensor: what all_reduce leaves on each rank, what
/// all_gather leaves on each rank, what reduce_scatter and all_to_all start from on each rank, one message
/// for point_to_point.
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  point_to_point
};

/// The ranks that take part in a collective.
enum class Group : std::uint8_t { tensor, context, expert };

[[nodiscard]] std::string_view to_string(OperatorKind value);
[[nodiscard]] std::string_view to_string(Phase value);
[[nodiscard]] std::string_view to_string(CollectiveKind value);
[[nodiscard]] std::string_view to_string(Group value);

/// One operator. Shapes are per GPU; a gemm is `batch` products of an m x k with a k x n matrix.
struct Operator {
  std::string_view name; ///< static text, such as "qkv" or "ffn in dgrad"
  OperatorKind kind = OperatorKind::memory_bound;
  Phase phase = Phase::forward;
  bool weight_gradient = false; ///< a GEMM that makes a weight gradient: zero-bubble schedules may put it off
  bool attention_core = false;  ///< a batched GEMM of plain attention
  bool low_precision = false;   ///< a GEMM that runs in fp8 where the plan says fp8
  double m = 0;
  double n = 0;
  double k = 0;
  double batch = 1;
  Flops flops; ///< gemm, attention
  Bytes bytes; ///< memory traffic; for a collective the size of the tensor (see CollectiveKind)
  CollectiveKind collective = CollectiveKind::all_reduce;
  Group group = Group::tensor;
  /// collective: the index of the compute operator that runs at the same time; -1: none, it is waited for.
  std::int16_t beside = -1;
  /// The operator of an earlier phase that is exactly the same and need not be priced again; -1: none.
  std::int16_t same_as = -1;
};

/// Sets the FLOPs of a gemm from its shape, and its bytes: each operand read once (1 byte an element in fp8,
/// else 2), the result written once in 16 bits.
void set_gemm_work(Operator& gemm);

} // namespace vtrain
