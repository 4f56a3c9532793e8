// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"
#include "traces/trace_summary.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE("quantiles are by nearest rank") {
  CHECK_FALSE(quantiles({}));
  const auto one = quantiles({7.0});
  REQUIRE(one);
  CHECK(one->p10 == 7.0);
  CHECK(one->max == 7.0);
  std::vector<double> values;
  for (int i = 20; i >= 1; --i)
    values.push_back(i);
  const auto twenty = quantiles(values);
  REQUIRE(twenty);
  CHECK(twenty->p10 == 2.0);
  CHECK(twenty->p25 == 5.0);
  CHECK(twenty->p50 == 10.0);
  CHECK(twenty->p75 == 15.0);
  CHECK(twenty->p90 == 18.0);
  CHECK(twenty->p95 == 19.0);
  CHECK(twenty->p99 == 20.0);
  CHECK(twenty->mean == 10.5);
}

TEST_CASE("a summary has the figures of a trace") {
  const TraceReading reading = read_text("job_id,submit_s,gpus,duration_s,iterations,deadline_s\n"
                                         "a,3600,2,1800,,9000\n"
                                         "b,3600,4,3600,,4000\n"
                                         "c,7200,2,,10,8000\n"
                                         "d,90000,1,3600,,\n");
  REQUIRE(reading.errors == "");
  const TraceSummary summary = summarize(reading.workload);
  CHECK(summary.jobs == 4);
  CHECK(summary.first_submit == Seconds(3600.0));
  CHECK(summary.last_submit == Seconds(90000.0));
  CHECK(summary.gpu_hours == 6.0);
  CHECK(summary.jobs_without_duration == 1);
  CHECK(summary.mean_gpus_demanded == doctest::Approx(6.0 * 3600 / 86400));
  CHECK(summary.equal_submit_times == 1);
  CHECK(summary.with_deadline == 3);
  CHECK(summary.infeasible_deadlines == 1);
  REQUIRE(summary.duration_s);
  CHECK(summary.duration_s->p50 == 3600.0);
  REQUIRE(summary.gap_s);
  CHECK(summary.gap_s->p50 == 3600.0);
  CHECK(summary.gap_s->max == 82800.0);
  REQUIRE(summary.widths.size() == 3);
  CHECK(summary.widths[1].gpus == GpuCount(2));
  CHECK(summary.widths[1].jobs == 2);
  CHECK(summary.widths[1].gpu_hours == 1.0);
  CHECK(summary.by_hour[1] == 3); // 90,000 s is 1 o'clock of the second day
  CHECK(summary.by_hour[2] == 1);
}

TEST_CASE("a summary of jobs at one instant has no demand and gaps of 0") {
  const TraceSummary summary =
      summarize(read_text("job_id,submit_s,gpus,duration_s\na,5,1,9\nb,5,1,9\n").workload);
  CHECK(summary.mean_gpus_demanded == 0.0);
  CHECK(summary.gap_s->max == 0.0);
}

TEST_CASE("a summary of nothing is empty") {
  const TraceSummary summary = summarize(Workload{});
  CHECK(summary.jobs == 0);
  CHECK_FALSE(summary.duration_s);
  CHECK_FALSE(summary.gap_s);
  CHECK(summary.widths.empty());
}

TEST_CASE("a throughput gives the durations that the trace lacks") {
  Workload workload = read_text("job_id,submit_s,gpus,iterations\na,0,2,10\n").workload;
  CHECK(summarize(workload).jobs_without_duration == 1);
  workload.jobs[0].work = 10.0;
  workload.jobs[0].duration = Seconds(1800.0);
  CHECK(summarize(workload).gpu_hours == 1.0);
}
