// SPDX-License-Identifier: MIT
// How fast a job works on how many GPUs, and how much it matters where they are.
#pragma once

#include "common/units.hpp"
#include "jobs/job.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vtrain {

/// Where the GPUs of a gang are.
struct GangSpread {
  bool consolidated = true;        ///< on as few nodes as can be, or it is not known
  std::int32_t fewest_on_node = 0; ///< else: GPUs on the node that holds fewest of them
};

/// Iterations per second, and under which parallel plan (empty where speeds were measured).
struct JobSpeed {
  PerSecond rate;
  Symbol plan{0};
};

/// One measured or predicted point of a curve.
struct ThroughputLevel {
  GpuCount gpus;
  JobSpeed consolidated;
  /// A speed with at least so many GPUs on each node.
  struct Spread {
    std::int32_t gpus_per_node = 1;
    JobSpeed speed;
  };
  std::vector<Spread> spread = {}; ///< by decreasing GPUs on a node; empty: it does not matter where they are

  /// The speed of a gang that lies like this: `consolidated`, else the first of `spread` whose GPUs on a node
  /// are not more than the gang's; the last one if none is.
  [[nodiscard]] const JobSpeed& at(const GangSpread& gang) const;
};

/// A job's speed at the GPU counts that are known for it, and only at those: a curve is never interpolated.
class ThroughputCurve {
public:
  ThroughputCurve() = default;
  /// `levels` have distinct positive GPU counts and positive rates, in any order.
  explicit ThroughputCurve(std::vector<ThroughputLevel> levels);

  /// Levels by increasing GPU count.
  [[nodiscard]] std::span<const ThroughputLevel> levels() const { return levels_; }
  /// The level of exactly `gpus` GPUs; null when the curve has none.
  [[nodiscard]] const ThroughputLevel* level(GpuCount gpus) const;
  /// Its rate on consolidated GPUs.
  [[nodiscard]] std::optional<PerSecond> rate(GpuCount gpus) const;

private:
  std::vector<ThroughputLevel> levels_;
};

} // namespace vtrain
