// SPDX-License-Identifier: MIT
#include "cluster/result_tables.hpp"
#include "cluster/summary.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

namespace {

Summary measured(const Workload& workload, const Cluster& cluster, TestRun run,
                 const MeasuredWindow& window = {}) {
  Summary summary;
  summary.policy = run.policy;
  summary.cluster = cluster;
  const Outcome outcome = simulate_plain(workload, cluster, std::move(run));
  measure(summary, outcome, workload, cluster, window);
  return summary;
}

double value(const Summary& summary, const char* metric) {
  return summary.metric(metric).value();
}

} // namespace

TEST_CASE("metrics of a schedule worked out by hand") {
  // 8 GPUs, fifo: j0 0-100 on 8, j1 waits until 100, runs to 120 on 4, j2 (deadline 115) 100-110 on 4.
  const Workload workload = make_workload({{0, 8, 100, 90.0}, {20, 4, 20}, {30, 4, 10, 115.0}});
  const Summary s = measured(workload, make_cluster(1, 8), {.placement = "best_fit"});
  CHECK(s.submitted == 3);
  CHECK(s.completed == 3);
  CHECK(value(s, "makespan_s") == 120.0);
  CHECK(value(s, "jct_mean_s") == doctest::Approx((100.0 + 100.0 + 80.0) / 3));
  CHECK(value(s, "jct_p50_s") == 100.0);
  CHECK(value(s, "jct_p99_s") == 100.0);
  CHECK(value(s, "wait_mean_s") == doctest::Approx((0.0 + 80.0 + 70.0) / 3));
  CHECK(value(s, "wait_p50_s") == 70.0);
  CHECK(value(s, "slowdown_mean") == doctest::Approx((1.0 + 5.0 + 8.0) / 3));
  const double gpu_seconds = 800.0 + 80.0 + 40.0;
  CHECK(value(s, "gpu_utilization") == doctest::Approx(gpu_seconds / (8 * 120.0)));
  CHECK(value(s, "gpu_hours") == doctest::Approx(gpu_seconds / 3600.0));
  CHECK(value(s, "goodput") == 1.0);
  CHECK(value(s, "deadline_met_ratio") == 0.5); // j0 is late, j2 is in time, j1 has none
  CHECK(value(s, "energy_kwh") == doctest::Approx(400.0 * gpu_seconds / 3.6e6));
  CHECK(value(s, "cost_usd") == doctest::Approx(2.0 * gpu_seconds / 3600.0));
  CHECK(value(s, "preemptions") == 0.0);
  // The last 10 s: 4 of 8 GPUs free, on a node that is not wholly free.
  CHECK(value(s, "fragmentation_mean") == doctest::Approx(10.0 / 120.0));
}

TEST_CASE("metrics that do not apply are null") {
  const Summary s = measured(make_workload({{0, 1, 10}}), make_cluster(1, 8), {});
  CHECK_FALSE(s.metric("deadline_met_ratio").has_value()); // no deadline
  CHECK_FALSE(s.metric("fragmentation_mean").has_value()); // placement count knows no nodes
  CHECK(to_json(s).find("\"deadline_met_ratio\": null") != std::string::npos);
}

TEST_CASE("finish-time fairness compares with a 1/N share of the cluster") {
  Job job;
  job.submit = Seconds(0);
  job.gpus = GpuCount(8);
  job.duration = Seconds(100);
  JobRun run;
  run.end = Seconds(300);
  // 2 jobs present on 8 GPUs: a share of 4 GPUs doubles the 100 s.
  CHECK(finish_time_fairness(job, run, 2.0, GpuCount(8)) == doctest::Approx(1.5));
  // 2 jobs present on 64 GPUs: the gang fits its share.
  CHECK(finish_time_fairness(job, run, 2.0, GpuCount(64)) == doctest::Approx(3.0));
}

TEST_CASE("warm-up and window trim the jobs that enter means, not the simulation") {
  const Workload workload = make_workload({{0, 1, 10}, {100, 1, 20}, {200, 1, 30}});
  const Summary s = measured(workload, make_cluster(1, 8), {}, {.begin = Seconds(50), .end = Seconds(200)});
  CHECK(s.trimmed == 2);
  CHECK(s.completed == 3);
  CHECK(value(s, "jct_mean_s") == 20.0);
  CHECK(value(s, "makespan_s") == 230.0);
}

TEST_CASE("jobs that a cut run never came to count nowhere") {
  TestRun run;
  run.options.until = Seconds(10);
  const Workload workload = make_workload({{0, 1, 10, 10.0}, {20, 1, 1, 30.0}});
  const Summary s = measured(workload, make_cluster(1, 8), std::move(run));
  CHECK(s.submitted == 1);
  CHECK(s.completed == 1);
  CHECK(s.not_submitted == 1);
  CHECK(value(s, "deadline_met_ratio") == 1.0);
}

TEST_CASE("the goodput leaves out what switch costs took") {
  Diagnostics diagnostics;
  const ConfigNode tree =
      parse_yaml("switch_cost: {by_gpus: {1: 5s, more: 20s}, on: [start, resume]}", "t.yaml", diagnostics);
  ConfigNode effective;
  ConfigReader reader(tree, "", diagnostics, effective);
  TestRun run;
  run.switch_cost = SwitchCost::read(reader, "switch_cost");
  const Summary s = measured(make_workload({{0, 4, 80}}), make_cluster(1, 8), std::move(run));
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(value(s, "jct_mean_s") == 100.0);
  CHECK(value(s, "goodput") == doctest::Approx(0.8));
}

TEST_CASE("summary.json reads back as it was written") {
  Workload workload = make_workload({{0, 8, 100, 90.0}, {20, 4, 20}});
  workload.funnel = {.file = "x.csv",
                     .format = "native",
                     .sha256 = "abc",
                     .rows_read = 3,
                     .dropped = {{"asks for 0 GPUs", 1}},
                     .kept = 2,
                     .descents = 1};
  Summary s = measured(workload, make_cluster(2, 8), {});
  s.name = "a \"name\"";
  s.funnel = workload.funnel;
  const std::string text = to_json(s);
  CHECK(to_json(summary_from_json(text, "summary.json")) == text);
  CHECK_THROWS_WITH_AS((void)summary_from_json("{}", "x/summary.json"), doctest::Contains("x/summary.json"),
                       InputError);
  CHECK_THROWS_AS((void)summary_from_json("not json", "x/summary.json"), InputError);
}

TEST_CASE("jobs.csv has the contract's columns and leaves unknown values empty") {
  const Workload workload = make_workload({{0, 8, 100.5, 90.0}, {20, 16, 20}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {.placement = "best_fit"});
  const std::string csv = jobs_csv(outcome, workload);
  CHECK(
      csv ==
      "job_id,user,tenant,model,state,reason,submit_s,start_s,end_s,wait_s,jct_s,run_s,gpus_requested,"
      "gpus_mean,gpus_max,preemptions,resizes,restarts,deadline_s,met_deadline,iterations,gpu_hours,slowdown,"
      "plan,nodes,measured\n"
      "j0,,,,COMPLETED,,0,0,100.5,0,100.5,100.5,8,8,8,0,0,0,90,false,,0.22333333333333333,1,,n0,true\n"
      "j1,,,,REJECTED,TooManyGpus,20,,,,,0,16,,0,0,0,0,,,,0,,,,true\n");
}
