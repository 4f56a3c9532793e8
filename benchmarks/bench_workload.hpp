// SPDX-License-Identifier: MIT
// The jobs that benchmarks run, and the floor that they are compared with.
#pragma once

#include "benchmarks/wall_time.hpp"
#include "common/random.hpp"
#include "jobs/throughput_source.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <queue>
#include <string>

namespace vtrain::bench {

struct Load {
  std::size_t jobs;
  GpuCount gpus;
  double load; ///< offered load
  bool rhythm; ///< arrivals swing over four weeks between 0.1 and 1.9 times their mean, so that thousands of
               ///< jobs queue
};

/// Poisson arrivals, widths 1 to 64, exponential durations of an hour in the mean; whole seconds.
inline Workload make_workload(const Load& row) {
  static constexpr std::array<std::int32_t, 10> kWidths = {1, 1, 1, 2, 4, 8, 8, 16, 32, 64};
  constexpr double kMeanWidth = 13.7;
  constexpr double kMeanSeconds = 3660.0;
  constexpr double kSwing = 0.9;
  RandomStream random = RandomStreams(1).stream("benchmark");
  const double rate = row.load * row.gpus.value() / (kMeanWidth * kMeanSeconds);
  Workload workload;
  workload.jobs.reserve(row.jobs);
  double t = 0.0;
  for (std::size_t i = 0; i < row.jobs; ++i) {
    const double phase = 2.0 * std::numbers::pi * t / (28.0 * kDay.base());
    t += random.exponential(1.0) / (rate * (row.rhythm ? 1.0 + kSwing * std::sin(phase) : 1.0));
    Job job;
    job.name = workload.strings.intern(std::to_string(i));
    job.submit = Seconds(std::floor(t));
    job.gpus = job.min_gpus = job.max_gpus = GpuCount(kWidths[random.below(kWidths.size())]);
    job.recorded_duration = Seconds(std::floor(60.0 + random.exponential(kMeanSeconds - 60.0)));
    workload.jobs.push_back(job);
  }
  Diagnostics diagnostics;
  resolve_throughput_from_trace(workload, diagnostics);
  diagnostics.throw_if_errors();
  return workload;
}

/// Arrivals and ends of the same jobs through a std::priority_queue, every job starting when it arrives.
inline double floor_seconds(const Workload& workload) {
  struct Entry {
    double date;
    std::uint32_t sequence;
    bool end;
    bool operator<(const Entry& o) const { return date != o.date ? date > o.date : sequence > o.sequence; }
  };
  volatile double sink = 0.0;
  return seconds_of([&] {
    std::priority_queue<Entry> queue;
    std::uint32_t sequence = 0;
    std::size_t next = 0;
    queue.push({workload.jobs[next++].submit.base(), sequence++, false});
    while (!queue.empty()) {
      const Entry entry = queue.top();
      queue.pop();
      sink = entry.date;
      if (entry.end)
        continue;
      queue.push({entry.date + workload.jobs[next - 1].duration.base(), sequence++, true});
      if (next < workload.jobs.size())
        queue.push({workload.jobs[next++].submit.base(), sequence++, false});
    }
  });
}

} // namespace vtrain::bench
