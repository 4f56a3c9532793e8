// SPDX-License-Identifier: MIT
// The arithmetic of plan constraints, shared by the check and by the search for the nearest plan.
#pragma once

#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace vtrain {

/// The most GPUs, and the most samples of a batch: what 32 bits hold.
inline constexpr std::int64_t kMostGpus = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMostSamples = std::numeric_limits<std::int32_t>::max();

/// Whether the key-value heads go over `tensor` ranks: split evenly, or each repeated on as many ranks.
[[nodiscard]] inline bool splits_key_values(const ModelShape& model, std::int64_t tensor) {
  return model.kv_heads % tensor == 0 || tensor % model.kv_heads == 0;
}

/// Whether the sequence goes over `context` ranks. Causal attention is balanced by giving each rank a piece
/// from the front and one from the back, so there are two pieces a rank (Megatron-LM's zigzag).
[[nodiscard]] inline bool splits_context(const ModelShape& model, std::int64_t context) {
  return context == 1 || model.sequence_length % (2 * context) == 0;
}

/// Whether the tokens of a context-parallel rank go over `tensor` ranks, as sequence parallelism demands. The
/// sequence length is a multiple of `context`.
[[nodiscard]] inline bool splits_sequence(const ModelShape& model, std::int64_t tensor,
                                          std::int64_t context) {
  return model.sequence_length / context % tensor == 0;
}

[[nodiscard]] bool is_permutation(const std::array<ParallelAxis, 5>& order);

/// What the global batch must be a multiple of: data x micro-batch, and x pipeline when the schedule
/// interleaves (arXiv 2104.04473, section 2.2); none above kMostSamples. Degrees and micro-batch are at
/// least 1.
[[nodiscard]] std::optional<std::int64_t> batch_unit(const ParallelPlan& plan);

/// The possible global batches next to the plan's, smaller one first; none when no batch is possible.
[[nodiscard]] std::vector<std::int64_t> nearest_batches(const ParallelPlan& plan);

} // namespace vtrain
