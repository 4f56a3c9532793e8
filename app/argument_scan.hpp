// SPDX-License-Identifier: MIT
// A first look at the arguments of a verb: what is an option, what is its value, what is neither. It finds
// everything that is wrong at once, and knows what was meant.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace vtrain {

/// An option as the scan sees it.
struct OptionShape {
  std::vector<std::string> names; ///< with their dashes: "-o", "--output"
  bool takes_value = true;
  bool repeatable = false;
  bool toggle = false; ///< takes no value, but `=true` and `=false`
};

/// The positional arguments of a verb.
struct PositionalShape {
  std::string name;
  bool many = false;     ///< takes all that follow; the last one
  bool optional = false; ///< may be left out; the last one
};

/// Arguments in a form that leaves no doubt.
struct ScannedArguments {
  std::vector<std::string> options; ///< "--output=DIR", "-j8", "--quiet", a toggle as "--name=true"
  std::vector<std::string> positionals;
  bool wants_help = false;
};

/// Scans what follows the verb `command` (a whole one, such as "vtrain trace inspect"). The value of an
/// option may begin with a dash. After "--" everything is positional. Throws InputError with all findings:
/// unknown options with a suggestion, missing and unexpected values, missing and unexpected arguments.
/// Nothing is an error when help is asked for.
[[nodiscard]] ScannedArguments scan_arguments(std::span<const std::string> arguments,
                                              std::span<const OptionShape> options,
                                              std::span<const PositionalShape> positionals,
                                              const std::string& command);

} // namespace vtrain
