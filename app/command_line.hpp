// SPDX-License-Identifier: MIT
// The command line as the verbs see it. The parsing library is in command_line.cpp alone, since it is slow to
// compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// `--format`: how a result is printed on stdout.
enum class OutputFormat { table, json, csv };

/// Flags that every verb has.
struct CommonFlags {
  OutputFormat format = OutputFormat::table;
  bool quiet = false;   ///< -q: no log, no progress
  bool verbose = false; ///< -v: more log
};

/// One verb (or a verb below a verb, such as `trace inspect`).
class Verb {
public:
  class Impl;
  explicit Verb(std::unique_ptr<Impl> impl);
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;
  ~Verb();

  /// A required positional argument.
  Verb& positional(const std::string& name, std::string& target, const std::string& help);
  /// A positional argument that may be left out; it is the last one.
  Verb& positional(const std::string& name, std::optional<std::string>& target, const std::string& help);
  /// One or more positional arguments.
  Verb& positionals(const std::string& name, std::vector<std::string>& target, const std::string& help);
  /// Options with a value; `names` is such as "-o,--output", or "-o,--output DIR" where the value's name in
  /// the help says more than VALUE (N for a number).
  Verb& option(const std::string& names, std::optional<std::string>& target, const std::string& help);
  Verb& option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help);
  Verb& option(const std::string& names, std::optional<double>& target, const std::string& help);
  /// An option that may be given several times.
  Verb& options(const std::string& names, std::vector<std::string>& target, const std::string& help);
  Verb& flag(const std::string& names, bool& target, const std::string& help);
  /// A flag `--name` that can also be switched off: --name=false.
  Verb& toggle(const std::string& name, std::optional<bool>& target, const std::string& help);
  /// The heading in the help of the options that follow.
  Verb& heading(const std::string& text);
  /// An example for `--help`, a whole command line.
  Verb& example(const std::string& text);
  /// What the verb does; the result is the exit code.
  Verb& action(std::function<int(const CommonFlags&)> run);
  /// A verb below this one.
  Verb& verb(const std::string& name, const std::string& summary);

private:
  std::unique_ptr<Impl> impl_;
};

/// The whole command.
class CommandLine {
public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Verb& verb(const std::string& name, const std::string& summary);
  /// Parses and runs. `--help` prints to stdout and gives 0; wrong usage throws InputError (with "did you
  /// mean"); no verb prints the help to stderr and gives 2.
  int run(int argc, char** argv);

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace vtrain
