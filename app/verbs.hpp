// SPDX-License-Identifier: MIT
// The verbs, one file each. Each function adds its verb to the command line.
#pragma once

namespace vtrain {

class CommandLine;

void add_simulate(CommandLine& command);
void add_compare(CommandLine& command);
void add_trace(CommandLine& command);
void add_jobs(CommandLine& command);
void add_estimate(CommandLine& command);
void add_plan(CommandLine& command);
void add_compute_optimal(CommandLine& command);
void add_reproduce(CommandLine& command);
void add_accuracy(CommandLine& command);
void add_calibrate(CommandLine& command);
void add_list(CommandLine& command);
void add_doctor(CommandLine& command);
void add_version(CommandLine& command);

} // namespace vtrain
