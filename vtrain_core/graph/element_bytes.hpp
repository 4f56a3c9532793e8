// SPDX-License-Identifier: MIT
// Sizes of elements in memory.
#pragma once

namespace vtrain {

inline constexpr double kElement = 2.0; ///< bytes of a 16-bit element
inline constexpr double kMask = 1.0;    ///< bytes of a dropout mask's element

} // namespace vtrain
