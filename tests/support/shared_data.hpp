// SPDX-License-Identifier: MIT
// Real data that the project may not ship: tests find it in $VTRAIN_SHARED or beside the checkout, and skip
// visibly without it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace vtrain::test {

/// The path of shared data, such as "data/traces/muri"; none, and a message, where this machine lacks it.
inline std::optional<std::filesystem::path> shared_data(std::string_view relative) {
  const char* const chosen = std::getenv("VTRAIN_SHARED");
  const std::filesystem::path root = chosen != nullptr
                                         ? std::filesystem::path(chosen)
                                         : std::filesystem::path(VTRAIN_SOURCE_DIR "/../shared");
  const std::filesystem::path path = root / relative;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return path;
  MESSAGE("skipped: there is no " << path.string() << " (set VTRAIN_SHARED to the folder of shared data)");
  return std::nullopt;
}

} // namespace vtrain::test
