// SPDX-License-Identifier: MIT
// What an exception means to the caller of the command.
#pragma once

#include <exception>
#include <string>

namespace vtrain {

/// Exit codes; README.md explains them to users.
enum class ExitCode : int {
  ok = 0,
  threshold = 1,  ///< a threshold or a comparison failed
  bad_input = 2,  ///< usage or input
  simulation = 3, ///< the simulation or a policy failed
  io = 4,         ///< cannot read or write
  capability = 5, ///< this build or machine lacks something
  internal = 70,
  interrupted = 130,
};

struct Failure {
  ExitCode code;
  std::string message; ///< for stderr, one or more lines
};

/// The one table from exception types to exit codes.
[[nodiscard]] Failure describe(const std::exception_ptr& error);

} // namespace vtrain
