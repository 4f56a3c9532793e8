// SPDX-License-Identifier: MIT
// Small clusters and workloads, written down in a test, and their simulation without SimGrid.
#pragma once

#include "cluster/simulation.hpp"
#include "common/diagnostics.hpp"
#include "jobs/throughput_source.hpp"
#include "platforms/platform.hpp"
#include "schedulers/registry.hpp"
#include "tests/support/plain_engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vtrain::test {

/// A job as a test writes it: times in seconds.
struct JobLine {
  double submit = 0.0;
  int gpus = 1;
  double duration = 0.0;
  std::optional<double> deadline = std::nullopt;
};

/// Jobs called j0, j1, … with recorded durations; `lines` must be in the order of submit times.
inline Workload make_workload(const std::vector<JobLine>& lines) {
  Workload workload;
  for (const JobLine& line : lines) {
    Job job;
    job.name = workload.strings.intern("j" + std::to_string(workload.jobs.size()));
    job.submit = Seconds(line.submit);
    job.gpus = job.min_gpus = job.max_gpus = GpuCount(line.gpus);
    job.recorded_duration = Seconds(line.duration);
    if (line.deadline)
      job.deadline = Seconds(*line.deadline);
    workload.jobs.push_back(job);
  }
  Diagnostics diagnostics;
  resolve_throughput_from_trace(workload, diagnostics);
  diagnostics.throw_if_errors();
  return workload;
}

inline Cluster make_cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.name = "test";
  cluster.nodes = NodeCount(nodes);
  cluster.node.gpus = GpuCount(gpus_per_node);
  cluster.node.gpu.name = "test GPU";
  cluster.node.gpu.tdp = Watts(400.0);
  cluster.node.gpu_price = UsdPerSecond(2.0 / 3600.0);
  return cluster;
}

/// Everything that a test may vary.
struct TestRun {
  std::string policy = "fifo";
  std::string placement = "count";
  std::unique_ptr<Scheduler> scheduler = nullptr; ///< null: the built-in policy with its default options
  InformationOptions information = {};
  SwitchCost switch_cost = {};
  SimulationOptions options = {};
};

inline Outcome simulate_plain(const Workload& workload, const Cluster& cluster, TestRun run) {
  const PolicyRegistry registry = builtin_policies();
  if (run.scheduler == nullptr) {
    const PolicyEntry& entry = *registry.find(run.policy);
    run.scheduler = entry.make(PolicyOptions::defaults(entry.schema));
  }
  const PlacementEntry& placement = *find_placement(run.placement);
  PlainEngine engine;
  return simulate(workload, cluster,
                  {.policy = run.policy,
                   .scheduler = *run.scheduler,
                   .placement = placement.make == nullptr ? nullptr : placement.make(),
                   .information = run.information,
                   .switch_cost = run.switch_cost,
                   .seed = 1,
                   .options = run.options},
                  engine);
}

} // namespace vtrain::test
