// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace vtrain {

/// The SHA-256 of `data` as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view data);

} // namespace vtrain
