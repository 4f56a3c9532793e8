// SPDX-License-Identifier: MIT
// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace vtrain {

/// Threads that use the machine: its cores, at least 1.
[[nodiscard]] inline std::size_t usual_threads() {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

/// Calls work(begin, end, thread) for pieces of at most `piece` indices that together are [0, count), on
/// `threads` >= 1 threads, the calling one among them; `thread` counts from 0 and tells scratch memory apart.
/// Which thread takes which piece is not determined, so a piece writes only what is its own. The first
/// exception is thrown again after all threads have stopped.
template <class Work>
void parallel_pieces(std::size_t count, std::size_t piece, std::size_t threads, Work work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t begin = next.fetch_add(piece); begin < count; begin = next.fetch_add(piece))
        work(begin, begin + piece < count ? begin + piece : count, thread);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!error)
        error = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  const std::size_t useful = (count + piece - 1) / piece;
  for (std::size_t thread = 1; thread < threads && thread < useful; ++thread)
    others.emplace_back(run, thread);
  run(0);
  others.clear(); // joins
  if (error)
    std::rethrow_exception(error);
}

} // namespace vtrain
