// SPDX-License-Identifier: MIT
#include "app/report/axis.hpp"

#include "app/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace vtrain {
namespace {

constexpr double kTolerance = 1e-9; // of a step: k x step is not always exact
constexpr double kHoursPerDay = 24.0;

/// The smallest of 1, 2, 5 x 10^k that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1.0 - kTolerance))
      return factor * power;
  return 10.0 * power;
}

std::string number_label(double value) {
  constexpr double kMillion = 1e6;
  if (std::abs(value) >= kMillion)
    return human_number(value / kMillion) + " M";
  return value == std::round(value) ? grouped(value) : human_number(value);
}

/// A time in hours, of which `step` is the distance to the next tick.
std::string time_label(double hours, double step) {
  if (hours == 0.0)
    return "0";
  if (step >= kHoursPerDay)
    return human_number(hours / kHoursPerDay) + " d";
  if (step >= 1.0)
    return human_number(hours) + " h";
  return step * 60.0 >= 1.0 ? human_number(std::round(hours * 60.0)) + " min"
                            : human_number(hours * 3600.0) + " s";
}

struct NamedTime {
  double seconds;
  const char* name;
};

template <std::size_t N> std::vector<Tick> within(const std::array<NamedTime, N>& times, const Axis& axis) {
  std::vector<Tick> out;
  for (const NamedTime& time : times)
    if (const double hours = time.seconds / 3600.0; hours >= axis.low && hours <= axis.high)
      out.push_back({hours, time.name});
  return out;
}

std::vector<Tick> decades(const Axis& axis, std::initializer_list<double> factors) {
  std::vector<Tick> out;
  const auto first = static_cast<int>(std::floor(std::log10(axis.low)));
  const auto last = static_cast<int>(std::ceil(std::log10(axis.high)));
  for (int exponent = first; exponent <= last; ++exponent)
    for (const double factor : factors)
      if (const double at = factor * std::pow(10.0, exponent);
          at >= axis.low * (1 - kTolerance) && at <= axis.high * (1 + kTolerance))
        out.push_back({at, number_label(at)});
  return out;
}

Axis empty_log_axis(double lowest, double highest) {
  Axis axis{.low = lowest, .high = highest, .logarithmic = true, .ticks = {}};
  if (!(axis.low > 0.0))
    axis.low = 1.0;
  // A single value gets some room on both sides.
  if (!(axis.high > axis.low * 1.01)) {
    axis.high = axis.low * 2.0;
    axis.low /= 2.0;
  }
  return axis;
}

} // namespace

double Axis::position(double value) const {
  if (logarithmic)
    return value <= low ? 0.0 : std::min(1.0, std::log(value / low) / std::log(high / low));
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

Axis linear_axis(double highest, bool round_up, int most_ticks) {
  Axis axis{.low = 0.0, .high = highest > 0.0 ? highest : 1.0, .logarithmic = false, .ticks = {}};
  const double step = round_step(axis.high / most_ticks);
  if (round_up)
    axis.high = step * std::ceil(axis.high / step - kTolerance);
  for (int i = 0; step * i <= axis.high * (1.0 + kTolerance); ++i)
    axis.ticks.push_back({step * i, number_label(step * i)});
  return axis;
}

Axis time_axis(double highest) {
  constexpr std::array kSteps = {1.0 / 3600, 1.0 / 360, 0.5 / 60, 1.0 / 60, 2.0 / 60, 5.0 / 60, 10.0 / 60,
                                 20.0 / 60,  30.0 / 60, 1.0,      2.0,      3.0,      6.0,      12.0,
                                 24.0,       48.0,      120.0,    240.0,    480.0,    1200.0,   2400.0};
  constexpr double kMostTicks = 8;
  Axis axis{.low = 0.0, .high = highest > 0.0 ? highest : 1.0, .logarithmic = false, .ticks = {}};
  const auto* at = std::ranges::find_if(kSteps, [&](double step) { return axis.high / step <= kMostTicks; });
  const double step =
      at != kSteps.end() ? *at : kHoursPerDay * round_step(axis.high / kHoursPerDay / kMostTicks);
  for (int i = 0; step * i <= axis.high * (1.0 + kTolerance); ++i)
    axis.ticks.push_back({step * i, time_label(step * i, step)});
  return axis;
}

Axis log_axis(double lowest, double highest) {
  Axis axis = empty_log_axis(lowest, highest);
  axis.ticks = decades(axis, {1.0});
  if (axis.ticks.size() < 3)
    axis.ticks = decades(axis, {1.0, 2.0, 5.0});
  return axis;
}

Axis log_time_axis(double lowest, double highest) {
  constexpr std::array kCoarse = {
      NamedTime{0.01, "10 ms"}, NamedTime{0.1, "100 ms"},   NamedTime{1, "1 s"},
      NamedTime{10, "10 s"},    NamedTime{60, "1 min"},     NamedTime{600, "10 min"},
      NamedTime{3600, "1 h"},   NamedTime{21600, "6 h"},    NamedTime{86400, "1 d"},
      NamedTime{604800, "7 d"}, NamedTime{2592000, "30 d"}, NamedTime{31536000, "1 y"}};
  constexpr std::array kFine = {
      NamedTime{1, "1 s"},        NamedTime{2, "2 s"},         NamedTime{5, "5 s"},
      NamedTime{10, "10 s"},      NamedTime{20, "20 s"},       NamedTime{30, "30 s"},
      NamedTime{60, "1 min"},     NamedTime{120, "2 min"},     NamedTime{300, "5 min"},
      NamedTime{600, "10 min"},   NamedTime{1200, "20 min"},   NamedTime{1800, "30 min"},
      NamedTime{3600, "1 h"},     NamedTime{7200, "2 h"},      NamedTime{10800, "3 h"},
      NamedTime{21600, "6 h"},    NamedTime{43200, "12 h"},    NamedTime{86400, "1 d"},
      NamedTime{172800, "2 d"},   NamedTime{259200, "3 d"},    NamedTime{432000, "5 d"},
      NamedTime{864000, "10 d"},  NamedTime{1728000, "20 d"},  NamedTime{2592000, "30 d"},
      NamedTime{5184000, "60 d"}, NamedTime{8640000, "100 d"}, NamedTime{31536000, "1 y"}};
  Axis axis = empty_log_axis(lowest, highest);
  axis.ticks = within(kCoarse, axis);
  if (axis.ticks.size() < 4)
    axis.ticks = within(kFine, axis);
  return axis;
}

} // namespace vtrain
