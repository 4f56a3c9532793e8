// SPDX-License-Identifier: MIT
#include "jobs/throughput_curve.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace vtrain {

const JobSpeed& ThroughputLevel::at(const GangSpread& gang) const {
  if (gang.consolidated || spread.empty())
    return consolidated;
  for (const Spread& one : spread)
    if (one.gpus_per_node <= gang.fewest_on_node)
      return one.speed;
  return spread.back().speed;
}

ThroughputCurve::ThroughputCurve(std::vector<ThroughputLevel> levels) : levels_(std::move(levels)) {
  std::ranges::sort(levels_, {}, &ThroughputLevel::gpus);
  const auto twice = std::ranges::adjacent_find(levels_, {}, &ThroughputLevel::gpus);
  VTRAIN_ASSERT(twice == levels_.end(), "a throughput curve has a GPU count twice");
  for (const ThroughputLevel& level : levels_) {
    VTRAIN_ASSERT(level.gpus > GpuCount(0) && level.consolidated.rate > PerSecond(0.0),
                  "a throughput curve has a level that is not positive");
    for (const ThroughputLevel::Spread& one : level.spread)
      VTRAIN_ASSERT(one.speed.rate > PerSecond(0.0), "a throughput curve has a speed that is not positive");
    VTRAIN_ASSERT(
        std::ranges::is_sorted(level.spread, std::greater{}, &ThroughputLevel::Spread::gpus_per_node),
        "the speeds of spread gangs are by decreasing GPUs on a node");
  }
}

const ThroughputLevel* ThroughputCurve::level(GpuCount gpus) const {
  const auto at = std::ranges::lower_bound(levels_, gpus, {}, &ThroughputLevel::gpus);
  return at == levels_.end() || at->gpus != gpus ? nullptr : &*at;
}

std::optional<PerSecond> ThroughputCurve::rate(GpuCount gpus) const {
  const ThroughputLevel* const known = level(gpus);
  return known == nullptr ? std::nullopt : std::optional(known->consolidated.rate);
}

} // namespace vtrain
