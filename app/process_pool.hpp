// SPDX-License-Identifier: MIT
// Independent pieces of work, each in a child process: SimGrid allows one engine a process, and a crash of
// one must not cost the others.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace vtrain {

/// How a piece ended.
struct TaskResult {
  int exit_code = 0;
  std::string message; ///< what it had to say about a failure; empty on success
};

/// Runs every task in a forked child, at most `parallel` >= 1 at a time, started in order. A task throws to
/// fail; `exit_code.hpp` says what the exception means. A child that dies by a signal gives exit code 70 and
/// a message that names it. `finished` is called in this process whenever a task has ended (its index).
/// Results are in the order of the tasks. When `interrupt` becomes true the children get SIGTERM, no more are
/// started, and those not started have exit code 130. Children do not outlive this process. Flush output
/// before the call.
[[nodiscard]] std::vector<TaskResult> run_in_children(const std::vector<std::function<void()>>& tasks,
                                                      unsigned parallel,
                                                      const std::function<void(std::size_t)>& finished,
                                                      const std::atomic<bool>* interrupt = nullptr);

} // namespace vtrain
