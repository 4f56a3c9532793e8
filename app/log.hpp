// SPDX-License-Identifier: MIT
// The log: to stderr, never to stdout, which carries results.
#pragma once

#include "app/command_line.hpp"
#include "common/diagnostics.hpp"

namespace vtrain {

/// Sends the log to stderr; -v shows details, -q nothing below an error.
void configure_log(const CommonFlags& flags);

/// Prints the warnings of an input, unless -q.
void show_warnings(const Diagnostics& diagnostics, const CommonFlags& flags);

} // namespace vtrain
