// SPDX-License-Identifier: MIT
// Numbers as text: strict parsing, and the shortest text that reads back as the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vtrain {

/// The whole of `text` as a decimal integer; none for anything else ("8x", "", " 8", "1e3", overflow).
/// "8.0" is accepted as 8, since traces write counts that way.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// The whole of `text` as a finite decimal number; none for anything else ("1x", "", "nan", "inf", "0x1").
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Appends the shortest text that reads back as the same number; never with an exponent for
/// 1e-5 <= |value| < 1e15, and "-0" is written "0". `value` is finite.
void append_number(std::string& out, double value);
void append_number(std::string& out, std::int64_t value);
[[nodiscard]] std::string format_number(double value);

} // namespace vtrain
