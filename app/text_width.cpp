// SPDX-License-Identifier: MIT
#include "app/text_width.hpp"

#include <algorithm>
#include <array>

namespace vtrain {
namespace {

struct Character {
  char32_t code = 0; ///< U+FFFD for a wrong byte
  std::size_t bytes = 1;
  bool valid = true;
};

/// Bytes of the sequence that a lead byte begins; 0 if it begins none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead < 0xE0)
    return 2;
  if (lead >= 0xE0 && lead < 0xF0)
    return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

bool is_scalar_value(char32_t code, std::size_t bytes) {
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= kSmallest[bytes] && code <= 0x10FFFF && !surrogate;
}

/// The character at the beginning of a text that is not empty.
Character first_character(std::string_view text) {
  constexpr Character kWrong{0xFFFD, 1, false};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = sequence_length(lead);
  if (bytes == 0 || bytes > text.size())
    return kWrong;
  if (bytes == 1)
    return {lead, 1, true};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U)
      return kWrong;
    code = (code << 6U) | (next & 0x3FU);
  }
  return is_scalar_value(code, bytes) ? Character{code, bytes, true} : kWrong;
}

struct CodePoints {
  char32_t first, last;
};

template <std::size_t N> bool is_in(const std::array<CodePoints, N>& ranges, char32_t code) {
  return std::ranges::any_of(ranges, [&](CodePoints r) { return code >= r.first && code <= r.last; });
}

/// The common ranges of Unicode Standard Annex 11 (East Asian Width W and F), and of combining marks.
std::size_t width_of(char32_t code) {
  constexpr std::array kZero = {CodePoints{0x300, 0x36F},   CodePoints{0x200B, 0x200F},
                                CodePoints{0x20D0, 0x20FF}, CodePoints{0xFE00, 0xFE0F},
                                CodePoints{0xFE20, 0xFE2F}, CodePoints{0xFEFF, 0xFEFF}};
  constexpr std::array kWide = {
      CodePoints{0x1100, 0x115F},   CodePoints{0x2E80, 0x303E},   CodePoints{0x3041, 0xA4CF},
      CodePoints{0xAC00, 0xD7A3},   CodePoints{0xF900, 0xFAFF},   CodePoints{0xFE30, 0xFE6F},
      CodePoints{0xFF00, 0xFF60},   CodePoints{0xFFE0, 0xFFE6},   CodePoints{0x231A, 0x231B},
      CodePoints{0x2705, 0x2705},   CodePoints{0x1F300, 0x1F64F}, CodePoints{0x1F680, 0x1F6FF},
      CodePoints{0x1F900, 0x1FAFF}, CodePoints{0x20000, 0x3FFFD}};
  if (code < 0x300)
    return 1;
  if (is_in(kZero, code))
    return 0;
  return is_in(kWide, code) ? 2 : 1;
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// Calls `use(character, its bytes)` for each character.
template <class Use> void for_each_character(std::string_view text, Use use) {
  while (!text.empty()) {
    const Character character = first_character(text);
    use(character, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

} // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_character(text, [&](const Character& c, std::string_view) { width += width_of(c.code); });
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](const Character& c, std::string_view bytes) {
    if (is_control(c.code))
      out += ' ';
    else
      out += c.valid ? bytes : std::string_view("\uFFFD");
  });
  return out;
}

std::string fit_width(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns)
    return std::string(text);
  std::string out;
  std::size_t width = 0;
  bool full = columns == 0;
  for_each_character(text, [&](const Character& c, std::string_view bytes) {
    full = full || width + width_of(c.code) + 1 > columns;
    if (full)
      return;
    width += width_of(c.code);
    out += bytes;
  });
  return columns == 0 ? out : out + "\u2026";
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  bool begins_line = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = display_width(word);
    if (!begins_line && used + 1 + width > columns) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
      begins_line = true;
    }
    out += begins_line ? "" : " ";
    out += word;
    used += width + (begins_line ? 0 : 1);
    begins_line = false;
  }
  return out + '\n';
}

} // namespace vtrain
