// SPDX-License-Identifier: MIT
// Numbers as a person reads them. Machines get common/number.hpp.
#pragma once

#include <string>

namespace vtrain {

/// At most four significant digits behind a small number, whole numbers in full: "12.35", "0.00123", "2000",
/// "-" for what is no number.
[[nodiscard]] std::string human_number(double value);
/// A ratio in percent, always with two decimals: 0.8765 -> "87.65 %".
[[nodiscard]] std::string human_percent(double ratio);
/// "1234.50 USD"
[[nodiscard]] std::string human_usd(double value);
/// `value` rounded to a multiple of `unit`, for tables.
[[nodiscard]] double rounded(double value, double unit);
/// Bytes in a GiB.
inline constexpr double kGiB = 1073741824.0;
/// A count with groups of three digits: "1,234,567".
[[nodiscard]] std::string grouped(double count);

} // namespace vtrain
