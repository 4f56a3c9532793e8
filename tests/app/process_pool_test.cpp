// SPDX-License-Identifier: MIT
#include "app/process_pool.hpp"
#include "common/diagnostics.hpp"
#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <set>
#include <unistd.h>

using namespace vtrain;

TEST_CASE("every task runs in a process of its own and results keep the order of the tasks") {
  const vtrain_test::TemporaryFolder folder;
  std::vector<std::function<void()>> tasks;
  for (int i = 0; i < 7; ++i)
    tasks.emplace_back([&, i] {
      write_file(folder / std::to_string(i), std::to_string(getpid()));
      if (i == 3)
        throw SimulationError("task 3 says no");
    });
  for (const unsigned parallel : {1U, 2U, 16U}) {
    std::set<std::size_t> finished;
    const std::vector<TaskResult> results =
        run_in_children(tasks, parallel, [&](std::size_t task) { finished.insert(task); });
    REQUIRE(results.size() == 7);
    CHECK(finished.size() == 7);
    std::set<std::string> processes;
    for (std::size_t i = 0; i < results.size(); ++i) {
      CHECK(results[i].exit_code == (i == 3 ? 3 : 0));
      processes.insert(read_file(folder / std::to_string(i)));
    }
    CHECK(processes.size() == 7);
    CHECK(results[3].message == "error: task 3 says no");
  }
}

TEST_CASE("a task that crashes is reported and costs the others nothing") {
  const std::vector<std::function<void()>> tasks = {[] { std::raise(SIGKILL); }, [] {}};
  const std::vector<TaskResult> results = run_in_children(tasks, 2, [](std::size_t) {});
  CHECK(results[0].exit_code == 70);
  CHECK(results[0].message.find("Killed") != std::string::npos);
  CHECK(results[1].exit_code == 0);
}

TEST_CASE("a message longer than a pipe holds does not block the child") {
  const std::vector<std::function<void()>> tasks = {[] { throw IoError(std::string(1'000'000, 'x')); }};
  const std::vector<TaskResult> results = run_in_children(tasks, 1, [](std::size_t) {});
  CHECK(results[0].exit_code == 4);
  CHECK(results[0].message.size() > 1'000'000);
}

TEST_CASE("an interrupt reaches the children, and what was not started stays so") {
  std::atomic<bool> interrupt{false};
  std::vector<std::function<void()>> tasks(5, [] { pause(); }); // ends by the signal only
  tasks[0] = [] {};
  const std::vector<TaskResult> results = run_in_children(
      tasks, 2, [&](std::size_t) { interrupt = true; }, &interrupt);
  CHECK(results[0].exit_code == 0);
  CHECK(results[1].exit_code == 70);
  CHECK(results[1].message.find("Terminated") != std::string::npos);
  CHECK(results[4].exit_code == 130);
  CHECK(results[4].message == "interrupted before it was started");
}
