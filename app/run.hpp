// SPDX-License-Identifier: MIT
// One policy of an experiment: simulated, measured, written to a folder.
#pragma once

#include "app/experiment.hpp"
#include "app/report/report.hpp"

#include <atomic>
#include <functional>
#include <string>

namespace vtrain {

/// Set by SIGINT, SIGTERM and SIGHUP; a run that sees it stops, and what it has is written and marked.
[[nodiscard]] std::atomic<bool>& interrupt_flag();
/// Installs the handlers, and ignores SIGXFSZ so that a full quota is an ordinary write error.
void install_signal_handlers();

struct RunRequest {
  const Experiment& experiment;
  const Workload& workload;
  const PolicyEntry& policy;
  std::string command_line; ///< for the manifest
  std::function<void(const SimulationProgress&)> progress;
};

/// What a run leaves behind besides its files.
struct RunResult {
  ReportRun report;
  bool interrupted = false;
};

/// Simulates and writes jobs.csv, summary.json, timeline.csv, config.yaml and manifest.json through
/// `write(name, bytes)`. The process can do this once (one SimGrid engine a process).
RunResult simulate_and_write(const RunRequest& request,
                             const std::function<void(const std::string&, std::string_view)>& write);

} // namespace vtrain
