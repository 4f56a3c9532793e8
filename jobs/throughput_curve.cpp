// SPDX-License-Identifier: MIT
#include "jobs/throughput_curve.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <utility>

namespace vtrain {

ThroughputCurve::ThroughputCurve(std::vector<ThroughputLevel> levels) : levels_(std::move(levels)) {
  std::ranges::sort(levels_, {}, &ThroughputLevel::gpus);
  const auto twice = std::ranges::adjacent_find(levels_, {}, &ThroughputLevel::gpus);
  VTRAIN_ASSERT(twice == levels_.end(), "a throughput curve has a GPU count twice");
  for (const ThroughputLevel& level : levels_)
    VTRAIN_ASSERT(level.gpus > GpuCount(0) && level.rate > PerSecond(0.0),
                  "a throughput curve has a level that is not positive");
}

std::optional<PerSecond> ThroughputCurve::rate(GpuCount gpus) const {
  const auto at = std::ranges::lower_bound(levels_, gpus, {}, &ThroughputLevel::gpus);
  if (at == levels_.end() || at->gpus != gpus)
    return std::nullopt;
  return at->rate;
}

} // namespace vtrain
