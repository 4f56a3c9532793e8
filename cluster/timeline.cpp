// SPDX-License-Identifier: MIT
#include "cluster/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {

void accumulate(ClusterLevels& to, const ClusterLevels& levels, double weight) {
  to.queued += levels.queued * weight;
  to.running += levels.running * weight;
  to.gpus_busy += levels.gpus_busy * weight;
  to.gpus_down += levels.gpus_down * weight;
  to.fragmentation += levels.fragmentation * weight;
}

} // namespace

void Timeline::add(Seconds until, const ClusterLevels& levels) {
  while (until - origin_ > width_ * static_cast<double>(kMaxBins))
    double_width();
  while (end_ < until) {
    auto bin = static_cast<std::size_t>((end_ - origin_) / width_);
    if (bin_start(bin + 1) <= end_) // the quotient was rounded down onto a border
      ++bin;
    bin = std::min(bin, kMaxBins - 1);
    if (bin >= integrals_.size())
      integrals_.resize(bin + 1);
    // The last bin takes what is left, so that rounding can never stop the loop.
    const Seconds stop = bin + 1 == kMaxBins ? until : std::min(until, bin_start(bin + 1));
    accumulate(integrals_[bin], levels, (stop - end_).base());
    end_ = stop;
  }
}

ClusterLevels Timeline::mean(std::size_t bin) const {
  const Seconds filled = std::min(end_, bin_start(bin + 1)) - bin_start(bin);
  ClusterLevels out;
  if (filled > Seconds(0))
    accumulate(out, integrals_[bin], 1.0 / filled.base());
  return out;
}

void Timeline::double_width() {
  for (std::size_t i = 0; i < integrals_.size(); i += 2) {
    ClusterLevels merged = integrals_[i];
    if (i + 1 < integrals_.size())
      accumulate(merged, integrals_[i + 1], 1.0);
    integrals_[i / 2] = merged;
  }
  integrals_.resize((integrals_.size() + 1) / 2);
  width_ = width_ * 2.0;
}

} // namespace vtrain
