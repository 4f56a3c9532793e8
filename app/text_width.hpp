// SPDX-License-Identifier: MIT
// UTF-8 text in columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vtrain {

/// Columns that `text` takes: 2 for East Asian wide characters and emoji, 0 for combining marks. A byte that
/// is no UTF-8 counts 1.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` with control characters replaced by blanks: a job's name must not move the cursor of a terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// `text`, cut to `columns` columns (the last one an ellipsis if something is missing).
[[nodiscard]] std::string fit_width(std::string_view text, std::size_t columns);

/// Columns of a line of prose.
inline constexpr std::size_t kProseColumns = 100;

/// `text` broken at blanks into lines of at most `columns` columns, each after the first indented by `indent`
/// blanks that count. A word that is longer stands alone. Lines end with a line feed.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

} // namespace vtrain
