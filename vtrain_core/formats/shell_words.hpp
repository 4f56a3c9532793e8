// SPDX-License-Identifier: MIT
// The words of a shell script, without running it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// One word, quotes removed, `$NAME` as it is written.
struct ShellWord {
  std::string text;
  std::size_t offset = 0; ///< of its first byte in the script
};

/// The words in order, without comments, line continuations and operators (`;`, `|`, parentheses of arrays,
/// …). What
/// `$(…)`, `$((…))` and `${…}` enclose stays one word. A quoted text that itself holds options (`ARGS="--a 1
/// --b"`) becomes the words in it. A quote that is never closed counts as a letter.
[[nodiscard]] std::vector<ShellWord> shell_words(std::string_view script);

} // namespace vtrain
