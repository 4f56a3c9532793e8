// SPDX-License-Identifier: MIT
// Runs the built command as a user would.
#pragma once

#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"

#include <cstdlib>
#include <string>
#include <sys/wait.h>

namespace vtrain::test {

struct ProgramResult {
  int code = -1;     ///< exit code; 128 + signal when a signal ended it
  std::string out;   ///< stdout
  std::string error; ///< stderr
};

/// Runs `prefix vtrain ARGUMENTS` in a shell; `arguments` are shell words, `prefix` may limit or redirect.
inline ProgramResult run_program(const std::string& arguments, const std::string& prefix = "") {
  const vtrain_test::TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  const std::string error = (folder / "error").string();
  const std::string command =
      prefix + " '" VTRAIN_BINARY "' " + arguments + " > '" + out + "' 2> '" + error + "'";
  const int status = std::system(command.c_str());
  ProgramResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(out);
  result.error = read_file(error);
  return result;
}

} // namespace vtrain::test
