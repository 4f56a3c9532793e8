// SPDX-License-Identifier: MIT
// The check for a programmer's mistake. It stays in release builds: a wrong number is worse than a stop.
#pragma once

#include <stdexcept>
#include <string>

namespace vtrain {

/// A broken invariant of the program itself (exit code 70).
class InternalError : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& message);
} // namespace detail
} // namespace vtrain

/// Throws InternalError when `condition` does not hold. `message` says what went wrong.
#define VTRAIN_ASSERT(condition, message)                                                                    \
  do {                                                                                                       \
    if (!(condition)) [[unlikely]]                                                                           \
      ::vtrain::detail::assertion_failed(#condition, __FILE__, __LINE__, (message));                         \
  } while (false)
