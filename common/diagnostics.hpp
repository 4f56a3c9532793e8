// SPDX-License-Identifier: MIT
// What is wrong with an input and where: collected, so that a user sees every error of a file at once.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// A place in an input. `line` and `column` count from 1; 0 means "not known" and is left out of the text.
struct SourceLocation {
  std::string file; ///< path as the user gave it, or a description such as "--set"
  std::size_t line = 0;
  std::size_t column = 0;
};

enum class Severity { error, warning, note };

/// One finding about an input.
struct Diagnostic {
  SourceLocation where;
  Severity severity = Severity::error;
  std::string message; ///< one sentence without a final full stop
  std::string hint;    ///< what would be right ("did you mean 'srtf'?"); may be empty
};

/// `file:line:column: error: message; hint` on one line, as compilers print it.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// A collector of findings. It keeps the first `kMaxKept` of each severity and counts all of them.
class Diagnostics {
public:
  static constexpr std::size_t kMaxKept = 20;

  void error(SourceLocation where, std::string message, std::string hint = {});
  void warning(SourceLocation where, std::string message, std::string hint = {});

  [[nodiscard]] bool has_errors() const { return errors_ != 0; }
  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] std::size_t warning_count() const { return warnings_; }
  /// The findings kept, in the order in which they were reported.
  [[nodiscard]] const std::vector<Diagnostic>& kept() const { return kept_; }

  /// Throws one InputError that holds every error if there is any; otherwise does nothing.
  void throw_if_errors() const;

private:
  void add(Severity severity, std::size_t& counter, SourceLocation where, std::string message,
           std::string hint);
  std::vector<Diagnostic> kept_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// Wrong usage or wrong input (exit code 2). `what()` is one line per diagnostic, and a last line that
/// counts those not shown.
class InputError : public std::runtime_error {
public:
  explicit InputError(std::vector<Diagnostic> diagnostics, std::size_t not_shown = 0);
  /// A single error.
  InputError(SourceLocation where, std::string message, std::string hint = {});
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
  std::vector<Diagnostic> diagnostics_;
};

/// A file or folder cannot be read or written (exit code 4).
class IoError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// This build or this machine lacks something that was asked for (exit code 5).
class CapabilityError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The simulation or a policy failed (exit code 3).
class SimulationError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The user interrupted the work (exit code 130).
class Interrupted : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace vtrain
