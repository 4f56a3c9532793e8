// SPDX-License-Identifier: MIT
// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace vtrain {

/// `text` for the content or a quoted attribute of an element. What no document may hold (control characters,
/// bytes that are no UTF-8) is replaced, since an SVG file with one such byte is refused as a whole.
[[nodiscard]] std::string escape_markup(std::string_view text);

} // namespace vtrain
