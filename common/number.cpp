// SPDX-License-Identifier: MIT
#include "common/number.hpp"

#include "common/assert.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace vtrain {
namespace {

// from_chars takes "-" but not "+", and reads "inf" and "nan"; both readers below see only what is left here.
std::optional<std::string_view> without_plus(std::string_view text) {
  if (!text.empty() && text.front() == '+')
    text.remove_prefix(1);
  else if (!text.empty() && text.front() == '-')
    return text.size() > 1 && (text[1] == '.' || (text[1] >= '0' && text[1] <= '9')) ? std::optional(text)
                                                                                     : std::nullopt;
  if (text.empty() || !(text.front() == '.' || (text.front() >= '0' && text.front() <= '9')))
    return std::nullopt;
  return text;
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const auto digits = without_plus(text);
  if (!digits)
    return std::nullopt;
  const char* const end = digits->data() + digits->size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits->data(), end, value);
  if (error != std::errc{})
    return std::nullopt;
  if (stop == end)
    return value;
  const std::string_view fraction(stop, static_cast<std::size_t>(end - stop));
  if (fraction.size() < 2 || fraction.front() != '.' ||
      fraction.find_first_not_of('0', 1) != std::string_view::npos)
    return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  const auto digits = without_plus(text);
  if (!digits)
    return std::nullopt;
  const char* const end = digits->data() + digits->size();
  double value = 0.0;
  const auto [stop, error] = std::from_chars(digits->data(), end, value);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

void append_number(std::string& out, double value) {
  VTRAIN_ASSERT(std::isfinite(value), "only finite numbers have a text");
  if (value == 0.0) {
    out += '0';
    return;
  }
  std::array<char, 64> buffer{};
  const double magnitude = std::abs(value);
  char* const last = buffer.data() + buffer.size();
  const auto result = magnitude >= 1e-5 && magnitude < 1e15
                          ? std::to_chars(buffer.data(), last, value, std::chars_format::fixed)
                          : std::to_chars(buffer.data(), last, value);
  VTRAIN_ASSERT(result.ec == std::errc{}, "the shortest text of a number fits into 64 characters");
  out.append(buffer.data(), result.ptr);
}

void append_number(std::string& out, std::int64_t value) {
  std::array<char, 24> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

std::string format_number(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

} // namespace vtrain
