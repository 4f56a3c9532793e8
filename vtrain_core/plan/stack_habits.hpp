// SPDX-License-Identifier: MIT
// What a training program does that no parallel plan says: how it keeps gradients, when it gathers shards.
#pragma once

#include "vtrain_core/plan/parallel_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace vtrain {

/// A figure for each Precision.
using ByPrecision = std::array<double, 3>;
[[nodiscard]] inline double of(const ByPrecision& figures, Precision precision) {
  return figures[static_cast<std::size_t>(precision)];
}

/// Habits of a software stack; the defaults are Megatron-LM's.
struct StackHabits {
  /// Bytes of a gradient element when it is reduced (fp16, bf16, fp8).
  ByPrecision gradient_bytes{2, 4, 4};
  /// Memory traffic in bytes for a parameter, when a micro-batch's gradients are added to those before.
  ByPrecision accumulation_bytes{6, 10, 10};
  /// The ZeRO stage from which parameters and gradients are gathered and scattered layer by layer in every
  /// micro-batch, instead of once in an iteration.
  std::int32_t sharded_from = 3;
  /// Recomputation stops before the last GEMM of a layer, whose output nobody needs (PyTorch's checkpoint).
  bool stops_recompute_early = false;
  /// A pipeline message is split over the tensor ranks (arXiv 2104.04473, section 4.1).
  bool scatters_messages = true;
};

} // namespace vtrain
