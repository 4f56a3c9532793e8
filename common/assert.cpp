// SPDX-License-Identifier: MIT
#include "common/assert.hpp"

#include <fmt/format.h>

namespace vtrain::detail {

void assertion_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} (`{}` does not hold)", file, line, message, condition));
}

} // namespace vtrain::detail
