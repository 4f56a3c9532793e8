// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

namespace {

TraceReading apply(OversizeJobs option) {
  TraceReading reading = read_text("job_id,submit_s,gpus,duration_s,min_gpus,max_gpus\n"
                                   "a,0,8,5,8,8\nb,1,9,5,9,9\nc,2,8,5,4,64\nd,3,512,7,128,1024\n");
  REQUIRE(reading.errors == "");
  Diagnostics diagnostics;
  apply_oversize(reading.workload, GpuCount(8), option, diagnostics);
  reading.errors = text_of(diagnostics);
  return reading;
}

} // namespace

TEST_CASE("jobs wider than the cluster are errors unless one says otherwise") {
  const TraceReading reading = apply(OversizeJobs::error);
  CHECK(contains(reading.errors,
                 "t.csv:3: error: job 'b' asks for 9 GPUs and the cluster has 8; oversize: drop, "
                 "reject or clamp lets the rest run"));
  CHECK(contains(reading.errors, "t.csv:5: error: job 'd' asks for 512 GPUs"));
  CHECK(reading.workload.funnel.oversize == 2);
}

TEST_CASE("jobs wider than the cluster can be left out") {
  const TraceReading reading = apply(OversizeJobs::drop);
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "a c");
  const TraceFunnel& funnel = reading.workload.funnel;
  CHECK(funnel.kept == 2);
  CHECK(funnel.oversize == 2);
  REQUIRE(funnel.dropped.size() == 1);
  CHECK(funnel.dropped[0].reason == "asks for more GPUs than the cluster has");
  CHECK(funnel.dropped[0].rows == 2);
  CHECK(funnel.rows_read == funnel.kept + funnel.dropped[0].rows);
}

TEST_CASE("jobs wider than the cluster can stay, to be rejected when they arrive") {
  const TraceReading reading = apply(OversizeJobs::reject);
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "a b c d");
  CHECK(reading.workload.jobs[3].gpus == GpuCount(512));
  CHECK(reading.workload.funnel.kept == 4);
  CHECK(reading.workload.funnel.oversize == 2);
}

TEST_CASE("requests wider than the cluster can be clamped and keep their duration") {
  const TraceReading reading = apply(OversizeJobs::clamp);
  CHECK(reading.errors == "");
  const Job& job = reading.workload.jobs.at(3);
  CHECK(job.gpus == GpuCount(8));
  CHECK(job.min_gpus == GpuCount(8));
  CHECK(job.max_gpus == GpuCount(8));
  CHECK(job.recorded_duration == Seconds(7.0));
  CHECK(reading.workload.jobs.at(2).max_gpus == GpuCount(64)); // its request fits
  CHECK(reading.workload.funnel.oversize == 2);
}

TEST_CASE("a cluster that is wide enough changes nothing") {
  TraceReading reading = read_text("job_id,submit_s,gpus,duration_s\na,0,8,5\n");
  Diagnostics diagnostics;
  apply_oversize(reading.workload, GpuCount(8), OversizeJobs::error, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(reading.workload.funnel.oversize == 0);
}
