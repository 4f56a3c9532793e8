// SPDX-License-Identifier: MIT
// How fast the simulator is, beside the floor: a bare std::priority_queue loop over the same arrivals and
// ends, timed in the same process just before. Each row runs in a child process, since SimGrid allows one
// engine a process.
//
//   engine_bench            the engine under fifo, and every policy with thousands of jobs queued
//   engine_bench POLICY N   one row: N jobs under POLICY
#include "app/process_pool.hpp"
#include "benchmarks/bench_workload.hpp"
#include "cluster/simulation.hpp"
#include "platforms/catalogue.hpp"
#include "schedulers/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

using namespace vtrain;

struct Row {
  std::string policy;
  std::size_t jobs;
  std::int32_t nodes;
  double load;
  bool rhythm; ///< arrivals swing over four weeks between 0.1 and 1.9 times their mean, so that thousands of
               ///< jobs queue
  double target_jobs_per_s;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void run_row(const Row& row) {
  Cluster cluster = *Catalogue::builtin().cluster("a100-1024");
  cluster.nodes = NodeCount(row.nodes);
  const Workload workload = bench::make_workload(
      {.jobs = row.jobs, .gpus = cluster.gpus(), .load = row.load, .rhythm = row.rhythm});
  const double floor_s = bench::floor_seconds(workload);
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
