// SPDX-License-Identifier: MIT
#include "app/number_text.hpp"

#include "common/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {

/// `value` with `decimals` decimals, without zeros at the end and without "-0".
std::string trimmed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

} // namespace

std::string human_number(double value) {
  if (!std::isfinite(value))
    return "-";
  const double size = std::abs(value);
  constexpr double kLargest = 1e15; // beyond it digits are not exact any more
  constexpr double kSmallest = 1e-6;
  if (size != 0.0 && (size >= kLargest || size < kSmallest))
    return fmt::format("{:.3g}", value);
  constexpr int kDigits = 4;
  const int before_point = size < 1e-300 ? 0 : static_cast<int>(std::floor(std::log10(size))) + 1;
  return trimmed(value, std::clamp(kDigits - before_point, size < 1e5 ? 1 : 0, 9));
}

std::string human_percent(double ratio) {
  if (!std::isfinite(ratio))
    return "-";
  return fmt::format("{:.2f} %", std::abs(ratio) < 5e-5 ? 0.0 : 100.0 * ratio); // never "-0.00 %"
}

std::string human_usd(double value) {
  if (!std::isfinite(value))
    return "-";
  // Cents matter for a few dollars only.
  return std::abs(value) < 100.0 ? fmt::format("{:.2f} USD", value) : grouped(value) + " USD";
}

std::string grouped(double count) {
  std::string text = fmt::format("{:.0f}", std::abs(count));
  for (std::size_t end = text.size(); end > 3; end -= 3)
    text.insert(end - 3, ",");
  return count < 0.0 && text != "0" ? "-" + text : text;
}

double rounded(double value, double unit) {
  // Units are 0.1, 0.01, …; dividing by a whole number gives the nearest double of the decimal.
  const double steps = std::round(1.0 / unit);
  return std::round(value * steps) / steps;
}

} // namespace vtrain
