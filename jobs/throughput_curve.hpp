// SPDX-License-Identifier: MIT
// How fast a job works on how many GPUs.
#pragma once

#include "common/units.hpp"

#include <optional>
#include <span>
#include <vector>

namespace vtrain {

/// One measured or predicted point: iterations per second on that many GPUs.
struct ThroughputLevel {
  GpuCount gpus;
  PerSecond rate;
};

/// A job's speed at the GPU counts that are known for it, and only at those: a curve is never interpolated.
class ThroughputCurve {
public:
  ThroughputCurve() = default;
  /// `levels` have distinct positive GPU counts and positive rates, in any order.
  explicit ThroughputCurve(std::vector<ThroughputLevel> levels);

  /// Levels by increasing GPU count.
  [[nodiscard]] std::span<const ThroughputLevel> levels() const { return levels_; }
  /// The rate on exactly `gpus` GPUs; none when the curve has no such level.
  [[nodiscard]] std::optional<PerSecond> rate(GpuCount gpus) const;

private:
  std::vector<ThroughputLevel> levels_;
};

} // namespace vtrain
