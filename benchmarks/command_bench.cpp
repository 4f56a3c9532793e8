// SPDX-License-Identifier: MIT
// The whole command, `vtrain simulate`, on a trace of a million jobs and 16,384 GPUs under fifo: reading,
// simulating, measuring, writing. Beside it the floor: a bare std::priority_queue loop over the same arrivals
// and ends.
#include "benchmarks/bench_workload.hpp"
#include "common/file.hpp"
#include "common/number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace {

using namespace vtrain;

constexpr int kRuns = 3;
constexpr std::size_t kJobs = 1'000'000;

std::string trace_text(const Workload& workload) {
  std::string out = "job_id,submit_s,gpus,duration_s\n";
  for (const Job& job : workload.jobs) {
    out += workload.strings.text(job.name);
    for (const double value :
         {job.submit.base(), static_cast<double>(job.gpus.value()), job.duration.base()}) {
      out += ',';
      append_number(out, value);
    }
    out += '\n';
  }
  return out;
}

} // namespace

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("vtrain-command-bench-{}", getpid());
  std::filesystem::create_directory(folder);
  const Workload workload =
      bench::make_workload({.jobs = kJobs, .gpus = GpuCount(16'384), .load = 0.8, .rhythm = false});
  write_file(folder / "jobs.csv", trace_text(workload));
  write_file(folder / "million.yaml", "schema: 1\ncluster: {nodes: 2048, node: dgx-a100-80g}\n"
                                      "workload: {trace: {file: jobs.csv}}\nscheduler: {policy: fifo}\n");
  const std::string command = fmt::format("'{}' simulate '{}' -o '{}' -q > /dev/null", VTRAIN_BINARY,
                                          (folder / "million.yaml").string(), (folder / "out").string());
  int status = 0;
  fmt::print("{:>4} {:>9} {:>9} {:>9} {:>8} {:>9}\n", "run", "floor s", "wall s", "engine s", "x floor",
             "peak MB");
  for (int run = 1; run <= kRuns && status == 0; ++run) {
    const double floor_s = bench::floor_seconds(workload);
    const double wall_s = bench::seconds_of([&] { status = std::system(command.c_str()); });
    if (status != 0)
      break;
    const auto manifest = nlohmann::json::parse(read_file(folder / "out" / "manifest.json"));
    fmt::print("{:>4} {:>9.3f} {:>9.3f} {:>9.3f} {:>8.1f} {:>9.0f}\n", run, floor_s, wall_s,
               manifest.at("engine_s").get<double>(), wall_s / floor_s,
               manifest.at("peak_rss_bytes").get<double>() / 1e6);
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return status == 0 ? 0 : 1;
}
