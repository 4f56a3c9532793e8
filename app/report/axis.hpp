// SPDX-License-Identifier: MIT
// An axis of a chart: its range and its round ticks.
#pragma once

#include <string>
#include <vector>

namespace vtrain {

struct Tick {
  double at = 0.0;
  std::string label;
};

/// A range of values that maps to [0, 1].
struct Axis {
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;
  std::vector<Tick> ticks; ///< by increasing value, all within [low, high]

  /// Where `value` stands, within [0, 1]: values outside are moved to the nearer end.
  [[nodiscard]] double position(double value) const;
};

/// From 0 to `highest`; with `round_up` the range is widened to the next tick.
[[nodiscard]] Axis linear_axis(double highest, bool round_up, int most_ticks = 6);
/// From 0 to `highest` hours; ticks at whole minutes, hours or days.
[[nodiscard]] Axis time_axis(double highest);
/// From `lowest` > 0 to `highest`, both inclusive; ticks at powers of ten, or at 1, 2, 5 if there are few.
[[nodiscard]] Axis log_axis(double lowest, double highest);
/// The same in hours, with ticks such as 10 s, 1 min, 6 h, 7 d.
[[nodiscard]] Axis log_time_axis(double lowest, double highest);

} // namespace vtrain
