// SPDX-License-Identifier: MIT
// Which vtrain this is.
#pragma once

#include <string>
#include <string_view>

namespace vtrain {

/// Version, such as "0.1.0".
[[nodiscard]] std::string_view version();
/// Short hash of the commit, "unknown" when it was built outside a repository.
[[nodiscard]] std::string_view commit();
/// CMake's build type, such as "RelWithDebInfo".
[[nodiscard]] std::string_view build_type();
/// The compiler that built this file, such as "gcc 12.2.0".
[[nodiscard]] std::string compiler();
/// "vtrain 0.1.0 (commit 1a2b3c4, RelWithDebInfo)"
[[nodiscard]] std::string version_line();

} // namespace vtrain
