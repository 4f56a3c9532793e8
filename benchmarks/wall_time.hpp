// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace vtrain::bench {

/// Wall time of `work` in seconds.
inline double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace vtrain::bench
