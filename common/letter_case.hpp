// SPDX-License-Identifier: MIT
// Text without regard to the case of its ASCII letters.
#pragma once

#include <string>
#include <string_view>

namespace vtrain {

[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

} // namespace vtrain
