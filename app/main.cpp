// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/exit_code.hpp"
#include "app/run.hpp"
#include "app/verbs.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  try {
    vtrain::install_signal_handlers();
    vtrain::CommandLine command;
    vtrain::add_simulate(command);
    vtrain::add_compare(command);
    vtrain::add_trace(command);
    vtrain::add_jobs(command);
    vtrain::add_estimate(command);
    vtrain::add_plan(command);
    vtrain::add_compute_optimal(command);
    vtrain::add_reproduce(command);
    vtrain::add_accuracy(command);
    vtrain::add_calibrate(command);
    vtrain::add_list(command);
    vtrain::add_doctor(command);
    vtrain::add_version(command);
    const int code = command.run(argc, argv);
    // A reader that is gone or a full disk must not look like success.
    if (std::fflush(stdout) != 0) {
      std::fputs("error: cannot write to standard output\n", stderr);
      return static_cast<int>(vtrain::ExitCode::io);
    }
    return code;
  } catch (...) {
    const vtrain::Failure failure = vtrain::describe(std::current_exception());
    std::fprintf(stderr, "%s\n", failure.message.c_str());
    return static_cast<int>(failure.code);
  }
}
