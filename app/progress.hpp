// SPDX-License-Identifier: MIT
// How far the work is, on stderr: one line that is redrawn on a terminal, else a line now and then.
#pragma once

#include "cluster/simulation.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// A line on stderr that is drawn over: only on a terminal, at most ten times a second, cut to its width.
/// Where stderr is no terminal a plain line is written every 30 s instead.
class StatusLine {
public:
  explicit StatusLine(bool enabled);
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine(); ///< clears the line

  /// Whether it is time for a new text; making one costs more than asking.
  [[nodiscard]] bool is_due() const;
  void show(std::string_view text);
  [[nodiscard]] bool is_terminal() const { return terminal_; }

private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point next_;
};

/// "fifo  t=12.3 d  45 % of jobs  ETA 2 s  running 123  queued 45  1.2 M events  800 k events/s"
[[nodiscard]] std::string progress_text(std::string_view label, const SimulationProgress& progress,
                                        double elapsed_s);

/// The progress of one simulation.
class ProgressLine {
public:
  ProgressLine(std::string label, bool enabled) : label_(std::move(label)), line_(enabled) {}
  void update(const SimulationProgress& progress);

private:
  std::string label_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  StatusLine line_;
};

/// The progress of several runs in child processes.
class CompareProgress {
public:
  CompareProgress(std::vector<std::string> names, bool enabled);
  /// The run of that index has ended.
  void finished(std::size_t run);

private:
  void show();
  std::vector<std::string> names_;
  std::vector<bool> done_;
  StatusLine line_;
};

} // namespace vtrain
