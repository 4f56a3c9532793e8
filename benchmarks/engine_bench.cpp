// SPDX-License-Identifier: MIT
// How fast the simulator is, beside the floor: a bare std::priority_queue loop over the same arrivals and
// ends, timed in the same process just before. Each row runs in a child process, since SimGrid allows one
// engine a process.
//
//   engine_bench            the rows of design.md section 5 that concern engine and policies
//   engine_bench POLICY N   one row: N jobs under POLICY
#include "app/process_pool.hpp"
#include "cluster/simulation.hpp"
#include "common/random.hpp"
#include "jobs/throughput_source.hpp"
#include "platforms/catalogue.hpp"
#include "schedulers/registry.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <queue>
#include <string>
#include <unistd.h>

namespace {

using namespace vtrain;

struct Row {
  std::string policy;
  std::size_t jobs;
  std::int32_t nodes;
  double load;
  bool rhythm; ///< arrivals swing over four weeks between 0.1 and 1.9 times their mean, so that thousands of jobs
               ///< queue
  double target_jobs_per_s;
};

Workload make_workload(const Row& row, GpuCount gpus) {
  static constexpr std::array<std::int32_t, 10> kWidths = {1, 1, 1, 2, 4, 8, 8, 16, 32, 64};
  constexpr double kMeanWidth = 13.7;
  constexpr double kMeanSeconds = 3660.0;
  constexpr double kSwing = 0.9;
  RandomStream random = RandomStreams(1).stream("benchmark");
  const double rate = row.load * gpus.value() / (kMeanWidth * kMeanSeconds);
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

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Arrivals and ends of the same jobs through a std::priority_queue, every job starting when it arrives.
double floor_seconds(const Workload& workload) {
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

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void run_row(const Row& row) {
  Cluster cluster = *Catalogue::builtin().cluster("a100-1024");
  cluster.nodes = NodeCount(row.nodes);
  const Workload workload = make_workload(row, cluster.gpus());
  const double floor_s = floor_seconds(workload);
  const double before = resident_bytes();
  const PolicyRegistry registry = builtin_policies();
  const PolicyEntry& policy = *registry.find(row.policy);
  const auto scheduler = policy.make(PolicyOptions::defaults(policy.schema));
  const auto engine = make_simgrid_engine(cluster);
  std::size_t deepest = 0;
  const Outcome outcome = simulate(
      workload, cluster,
      {.policy = row.policy,
       .scheduler = *scheduler,
       .placement = find_placement("best_fit")->make(),
       .information = {},
       .switch_cost = {},
       .seed = 1,
       .options = {.round = {},
                   .until = {},
                   .progress = [&](const SimulationProgress& p) { deepest = std::max(deepest, p.pending); },
                   .interrupt = nullptr}},
      *engine);
  const double bytes = (resident_bytes() - before) / static_cast<double>(row.jobs);
  const double rate = static_cast<double>(row.jobs) / outcome.engine_s;
  fmt::print("{:<10} {:>9} {:>7} {:>6.2f} {:>9} {:>9.3f} {:>10.0f} {:>10.0f} {:>7.1f} {:>8.0f}  {}\n",
             row.policy, row.jobs, cluster.gpus().value(), row.load, deepest, outcome.engine_s, rate,
             row.target_jobs_per_s, outcome.engine_s / floor_s, bytes,
             rate >= row.target_jobs_per_s ? "ok" : "BELOW TARGET");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<Row> rows = {
      {"fifo", 1'000'000, 2048, 0.8, false, 500e3}, {"srtf", 100'000, 256, 0.9, true, 100e3},
      {"las", 100'000, 256, 0.9, true, 100e3},      {"srsf", 100'000, 256, 0.9, true, 0},
      {"edf", 100'000, 256, 0.9, true, 0},          {"fit_first", 100'000, 256, 0.9, true, 0},
      {"sjf", 100'000, 256, 0.9, true, 0},          {"easy", 100'000, 256, 0.9, true, 0}};
  if (argc == 3)
    rows = {{argv[1], std::strtoull(argv[2], nullptr, 10), 256, 0.9, true, 0}};
  fmt::print("{:<10} {:>9} {:>7} {:>6} {:>9} {:>9} {:>10} {:>10} {:>7} {:>8}\n", "policy", "jobs", "GPUs",
             "load", "max queue", "engine s", "jobs/s", "target", "x floor", "B/job");
  std::fflush(stdout);
  std::vector<std::function<void()>> tasks;
  for (const Row& row : rows)
    tasks.emplace_back([row] { run_row(row); });
  int code = 0;
  for (const TaskResult& result : run_in_children(tasks, 1, [](std::size_t) {})) {
    if (!result.message.empty())
      fmt::print(stderr, "{}\n", result.message);
    code = result.exit_code != 0 ? result.exit_code : code;
  }
  return code;
}
