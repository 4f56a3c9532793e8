// SPDX-License-Identifier: MIT
#include "app/process_pool.hpp"

#include "app/exit_code.hpp"
#include "common/diagnostics.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vtrain {
namespace {

struct Child {
  std::size_t task;
  pid_t pid;
  int messages; ///< read end of the pipe on which the child reports a failure
};

[[noreturn]] void run_child(const std::function<void()>& task, int messages) {
  prctl(PR_SET_PDEATHSIG, SIGTERM); // a comparison that is killed leaves no simulations behind
  int code = 0;
  try {
    task();
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    code = static_cast<int>(failure.code);
    std::string_view rest = failure.message;
    while (!rest.empty()) {
      const ssize_t written = write(messages, rest.data(), rest.size());
      if (written <= 0)
        break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  std::fflush(nullptr);
  _exit(code); // no destructors: SimGrid's are not needed, and the parent's temporary folders are not ours
}

Child start(std::size_t index, const std::function<void()>& task) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid < 0)
    throw IoError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) {
    close(ends[0]);
    run_child(task, ends[1]);
  }
  close(ends[1]);
  return {index, pid, ends[0]};
}

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

TaskResult collect(const Child& child) {
  TaskResult result;
  result.message = read_all(child.messages); // ends when the child closes its end, at the latest when it dies
  close(child.messages);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  } else {
    result.exit_code = static_cast<int>(ExitCode::internal);
    result.message = fmt::format("internal error: the process died ({})", strsignal(WTERMSIG(status)));
  }
  return result;
}

/// Index in `children` of one that has something to say or has ended; none when it is time to look at the
/// interrupt flag.
std::optional<std::size_t> wait_for_one(const std::vector<Child>& children) {
  constexpr int kLookAfterMs = 200; // a signal may come just before poll begins
  std::vector<pollfd> polled;
  polled.reserve(children.size());
  for (const Child& child : children)
    polled.push_back({.fd = child.messages, .events = POLLIN, .revents = 0});
  if (poll(polled.data(), polled.size(), kLookAfterMs) <= 0)
    return std::nullopt;
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0)
      return i;
  return std::nullopt;
}

} // namespace

std::vector<TaskResult> run_in_children(const std::vector<std::function<void()>>& tasks, unsigned parallel,
                                        const std::function<void(std::size_t)>& finished,
                                        const std::atomic<bool>* interrupt) {
  const TaskResult not_started{static_cast<int>(ExitCode::interrupted), "interrupted before it was started"};
  std::vector<TaskResult> results(tasks.size(), not_started);
  std::vector<Child> alive;
  std::size_t next = 0;
  bool stopping = false;
  while ((next < tasks.size() && !stopping) || !alive.empty()) {
    if (!stopping && interrupt != nullptr && interrupt->load()) {
      stopping = true;
      for (const Child& child : alive)
        kill(child.pid, SIGTERM);
    }
    while (!stopping && next < tasks.size() && alive.size() < parallel) {
      alive.push_back(start(next, tasks[next]));
      ++next;
    }
    const std::optional<std::size_t> at = wait_for_one(alive);
    if (!at)
      continue;
    const Child child = alive[*at];
    alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(*at));
    results[child.task] = collect(child);
    finished(child.task);
  }
  return results;
}

} // namespace vtrain
