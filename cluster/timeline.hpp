// SPDX-License-Identifier: MIT
// The cluster over time, in bins of equal width that double when there are too many of them.
#pragma once

#include "common/units.hpp"

#include <cstddef>
#include <vector>

namespace vtrain {

/// What is constant between two events.
struct ClusterLevels {
  double queued = 0;    ///< jobs that wait
  double running = 0;   ///< jobs that hold GPUs
  double gpus_busy = 0; ///< allocated GPUs
  double gpus_down = 0;
  double fragmentation = 0; ///< 1 - GPUs on wholly free nodes / free GPUs
};

/// Time-weighted means of ClusterLevels in at most `kMaxBins` bins; sum(gpus_busy x width) is the GPU-seconds
/// allocated.
class Timeline {
public:
  static constexpr std::size_t kMaxBins = 1024;
  /// Bins begin at `origin`; they are `width` > 0 wide until doubled.
  explicit Timeline(Seconds origin, Seconds width = kMinute) : origin_(origin), width_(width), end_(origin) {}
  Timeline() : Timeline(Seconds(0)) {}

  /// The levels held from the end of what was added before until `until`.
  void add(Seconds until, const ClusterLevels& levels);

  [[nodiscard]] std::size_t bins() const { return integrals_.size(); }
  [[nodiscard]] Seconds width() const { return width_; }
  [[nodiscard]] Seconds bin_start(std::size_t bin) const {
    return origin_ + width_ * static_cast<double>(bin);
  }
  /// Means over the part of the bin that was simulated (the last bin may be partly filled).
  [[nodiscard]] ClusterLevels mean(std::size_t bin) const;
  /// End of what was added.
  [[nodiscard]] Seconds end() const { return end_; }

private:
  void double_width();
  Seconds origin_;
  Seconds width_;
  Seconds end_;
  std::vector<ClusterLevels> integrals_; ///< level x seconds
};

} // namespace vtrain
