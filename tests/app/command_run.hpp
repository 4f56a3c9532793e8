// SPDX-License-Identifier: MIT
// Runs a command line inside a test and catches what it prints on stdout.
#pragma once

#include "app/command_line.hpp"
#include "common/diagnostics.hpp"

#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace vtrain_test {

/// Sends stdout to a temporary file while it lives.
class CapturedStdout {
public:
  CapturedStdout() : file_(std::tmpfile()), saved_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    ::dup2(::fileno(file_), STDOUT_FILENO);
  }
  CapturedStdout(const CapturedStdout&) = delete;
  CapturedStdout& operator=(const CapturedStdout&) = delete;
  ~CapturedStdout() {
    restore();
    std::fclose(file_);
  }
  /// Ends the capture and gives what was printed.
  std::string text() {
    restore();
    std::string out;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_))
      out += static_cast<char>(c);
    return out;
  }

private:
  void restore() {
    if (saved_ < 0)
      return;
    std::fflush(stdout);
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
    saved_ = -1;
  }
  std::FILE* file_;
  int saved_;
};

struct CommandResult {
  int code = -1;
  std::string out;   ///< stdout
  std::string error; ///< text of the InputError; empty if there was none
};

/// Runs `vtrain ARGUMENTS…` with the verbs that `command` has.
inline CommandResult run(vtrain::CommandLine& command, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "vtrain");
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  CommandResult result;
  CapturedStdout captured;
  try {
    result.code = command.run(static_cast<int>(argv.size()), argv.data());
  } catch (const vtrain::InputError& e) {
    result.error = e.what();
  }
  result.out = captured.text();
  return result;
}

} // namespace vtrain_test
