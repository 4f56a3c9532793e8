// SPDX-License-Identifier: MIT
// Where a byte of a text stands, for messages.
#pragma once

#include "common/diagnostics.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace vtrain {

/// Line and column of the byte `offset` of the text of `file`.
[[nodiscard]] inline SourceLocation place_in(std::string_view text, const std::string& file,
                                             std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t line_end = before.find_last_of('\n');
  return {file, line, before.size() - (line_end == std::string_view::npos ? 0 : line_end + 1) + 1};
}

} // namespace vtrain
