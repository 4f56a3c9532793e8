// SPDX-License-Identifier: MIT
// When people submit jobs: the rhythm of day and week, and busy and quiet spells. Private to this room.
#pragma once

#include "common/random.hpp"
#include "common/units.hpp"

#include <vector>

namespace vtrain {

/// A rate of arrivals over [0, span]; clock 0 is a Monday, 00:00. The rate is hour of the day x day of the
/// week x a lognormal factor that changes every ten minutes and remembers the last (AR(1)).
class ArrivalRate {
public:
  ArrivalRate(Seconds span, RandomStream modulation);

  /// A time in [0, span], drawn with a density proportional to the rate.
  [[nodiscard]] double draw_s(RandomStream& random) const;

private:
  double span_s_;
  double bin_s_;
  std::vector<double> cumulative_; ///< integral of the rate up to the end of each bin
};

} // namespace vtrain
