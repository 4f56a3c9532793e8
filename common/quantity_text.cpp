// SPDX-License-Identifier: MIT
#include "common/quantity_text.hpp"

#include "common/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

namespace vtrain {
namespace {

/// A unit is `times / over` base units. Two numbers, because 100 / 1000 is the double nearest to 0.1 and
/// 100 * 0.001 need not be.
struct Unit {
  std::string_view name;
  double times = 1.0;
  double over = 1.0;
};

constexpr double kKi = 1024.0;
constexpr std::array kTimeUnits{
    Unit{"s"},           Unit{"min", 60.0},    Unit{"h", 3600.0},    Unit{"d", 86400.0},
    Unit{"w", 604800.0}, Unit{"ms", 1.0, 1e3}, Unit{"us", 1.0, 1e6}, Unit{"ns", 1.0, 1e9}};
constexpr std::array kDataUnits{
    Unit{"B"},
    Unit{"kB", 1e3},
    Unit{"MB", 1e6},
    Unit{"GB", 1e9},
    Unit{"TB", 1e12},
    Unit{"PB", 1e15},
    Unit{"KiB", kKi},
    Unit{"MiB", kKi* kKi},
    Unit{"GiB", kKi* kKi* kKi},
    Unit{"TiB", kKi* kKi* kKi* kKi},
    Unit{"PiB", kKi* kKi* kKi* kKi* kKi},
};
constexpr std::array kRateUnits{
    Unit{"bps", 1.0, 8.0},
    Unit{"kbps", 1e3, 8.0},
    Unit{"Mbps", 1e6, 8.0},
    Unit{"Gbps", 1e9, 8.0},
    Unit{"Tbps", 1e12, 8.0},
    Unit{"B/s"},
    Unit{"kB/s", 1e3},
    Unit{"MB/s", 1e6},
    Unit{"GB/s", 1e9},
    Unit{"TB/s", 1e12},
    Unit{"KiB/s", kKi},
    Unit{"MiB/s", kKi* kKi},
    Unit{"GiB/s", kKi* kKi* kKi},
};
constexpr std::array kWorkUnits{
    Unit{"FLOPS"},        Unit{"kFLOPS", 1e3},  Unit{"MFLOPS", 1e6},   Unit{"GFLOPS", 1e9},
    Unit{"TFLOPS", 1e12}, Unit{"PFLOPS", 1e15}, Unit{"FLOP/s"},        Unit{"kFLOP/s", 1e3},
    Unit{"MFLOP/s", 1e6}, Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15},
};
constexpr std::array kPowerUnits{Unit{"W"}, Unit{"kW", 1e3}, Unit{"MW", 1e6}};
constexpr std::array kPriceUnits{Unit{"USD/h", 1.0, 3600.0}};
constexpr std::array kDollarUnits{Unit{"/h", 1.0, 3600.0}};

/// The unit is the tail of letters, '/' and nothing else; the number is what stands before it.
std::optional<double> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  const std::size_t last_of_number = text.find_last_of("0123456789.");
  if (last_of_number == std::string_view::npos)
    return std::nullopt;
  const auto number = parse_number(text.substr(0, last_of_number + 1));
  if (!number)
    return std::nullopt;
  std::string_view name = text.substr(last_of_number + 1);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const Unit& unit : units) {
    if (unit.name != name)
      continue;
    const double value = *number * unit.times / unit.over;
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

template <class Q> std::optional<Q> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const auto value = parse_with_unit(text, units);
  return value ? std::optional(Q(*value)) : std::nullopt;
}

/// `value` rounded to three significant digits, without an exponent.
std::string three_digits(double value) {
  if (value < 999.5)
    return fmt::format("{:.3g}", value);
  const double digit = std::pow(10.0, std::floor(std::log10(value)) - 2.0);
  return fmt::format("{:.0f}", std::round(value / digit) * digit);
}

} // namespace

std::optional<Seconds> parse_seconds(std::string_view text) {
  if (const auto number = parse_number(text))
    return *number == 0.0 ? std::optional(Seconds(0.0)) : std::nullopt;
  return parse_quantity<Seconds>(text, kTimeUnits);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  return parse_quantity<Bytes>(text, kDataUnits);
}

std::optional<BytesPerSecond> parse_bytes_per_second(std::string_view text) {
  return parse_quantity<BytesPerSecond>(text, kRateUnits);
}

std::optional<FlopsPerSecond> parse_flops_per_second(std::string_view text) {
  return parse_quantity<FlopsPerSecond>(text, kWorkUnits);
}

std::optional<Watts> parse_watts(std::string_view text) {
  return parse_quantity<Watts>(text, kPowerUnits);
}

std::optional<UsdPerSecond> parse_usd_per_second(std::string_view text) {
  if (text.starts_with('$'))
    return parse_quantity<UsdPerSecond>(text.substr(1), kDollarUnits);
  return parse_quantity<UsdPerSecond>(text, kPriceUnits);
}

std::string format_seconds(Seconds value) {
  constexpr std::array kLargestFirst{Unit{"w", 604800.0}, Unit{"d", 86400.0}, Unit{"h", 3600.0},
                                     Unit{"min", 60.0}};
  const double seconds = value.base();
  for (const Unit& unit : kLargestFirst) {
    if (seconds == 0.0 || std::fmod(seconds, unit.times) != 0.0)
      continue;
    // Above 2^53 a quotient may be rounded; then a smaller unit has to serve.
    std::string text = format_number(seconds / unit.times).append(unit.name);
    if (parse_seconds(text) == value)
      return text;
  }
  return format_number(seconds) + "s";
}

std::string human_seconds(Seconds value) {
  struct Step {
    const char* unit;
    double size;  // in seconds
    double limit; // in this unit; rounded numbers from here on move to the next
  };
  constexpr std::array kSteps{Step{"ns", 1e-9, 1e3},
                              Step{"us", 1e-6, 1e3},
                              Step{"ms", 1e-3, 1e3},
                              Step{"s", 1.0, 60.0},
                              Step{"min", 60.0, 60.0},
                              Step{"h", 3600.0, 48.0},
                              Step{"d", 86400.0, std::numeric_limits<double>::infinity()}};
  const double seconds = std::abs(value.base());
  if (seconds == 0.0)
    return "0 s";
  const char* const sign = value.base() < 0.0 ? "-" : "";
  double least = 0.0; // what rounding lifts over a limit is one step, not 0.999 of it
  for (std::size_t i = 0; i + 1 < kSteps.size(); ++i) {
    const Step& step = kSteps[i];
    const std::string number = three_digits(std::max(seconds / step.size, least));
    if (parse_number(number).value_or(step.limit) < step.limit)
      return fmt::format("{}{} {}", sign, number, step.unit);
    least = step.limit * step.size / kSteps[i + 1].size;
  }
  const Step& days = kSteps.back();
  return fmt::format("{}{} {}", sign, three_digits(std::max(seconds / days.size, least)), days.unit);
}

} // namespace vtrain
