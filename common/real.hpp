// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace vtrain {

/// A count as a factor in arithmetic of doubles.
[[nodiscard]] inline double real(std::int64_t value) {
  return static_cast<double>(value);
}

} // namespace vtrain
