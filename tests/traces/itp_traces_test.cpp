// SPDX-License-Identifier: MIT
// The traces of Microsoft's ITP clusters as published with ElasticFlow; the figures are those of their README
// and of our own count.
#include "tests/support/shared_data.hpp"
#include "tests/traces/read_text.hpp"
#include "traces/trace_summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE("the ten raw ITP traces add up to the published jobs and GPU-hours") {
  const auto folder = shared_data("data/traces/itp_elasticflow/raw");
  if (!folder)
    return;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(*folder))
    if (entry.path().extension() == ".csv")
      files.push_back(entry.path());
  std::ranges::sort(files);
  CHECK(files.size() == 10);
  std::size_t jobs = 0;
  std::size_t equal = 0;
  double gpu_hours = 0.0;
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    Diagnostics diagnostics;
    const Workload workload = read_trace({.file = file}, diagnostics);
    CHECK(text_of(diagnostics) == "");
    CHECK(workload.funnel.format == "elasticflow");
    CHECK(workload.funnel.descents == 0);
    const TraceSummary summary = summarize(workload);
    CHECK(summary.duration_s->p10 >= 600.0); // filtered before publication
    CHECK(summary.widths.back().gpus <= GpuCount(64));
    jobs += summary.jobs;
    equal += summary.equal_submit_times;
    gpu_hours += summary.gpu_hours;
  }
  CHECK(jobs == 69'351);
  CHECK(equal == 9'246);
  CHECK(gpu_hours == doctest::Approx(1'632'719.7).epsilon(1e-7));
}

TEST_CASE("the ITP traces with deadlines are read") {
  const auto folder = shared_data("data/traces/itp_elasticflow/sched");
  if (!folder)
    return;
  for (const std::string name : {"195job", "cluster01", "cluster03", "cluster04", "cluster10"}) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const Workload workload = read_trace({.file = *folder / (name + ".csv")}, diagnostics);
    CHECK(text_of(diagnostics) == "");
    const TraceSummary summary = summarize(workload);
    CHECK(summary.with_deadline == summary.jobs);
    CHECK(summary.infeasible_deadlines > summary.jobs / 4); // about half of them
    CHECK(std::ranges::all_of(workload.jobs,
                              [](const Job& job) { return job.iterations && job.model != Symbol(0); }));
    if (name == "195job")
      CHECK(summary.jobs == 195);
  }
}

TEST_CASE("the trace with ElasticFlow's second column names is read") {
  const auto file = shared_data("data/elasticflow/fig10_100jobs.csv");
  if (!file)
    return;
  Diagnostics diagnostics;
  const Workload workload = read_trace({.file = *file}, diagnostics);
  CHECK(text_of(diagnostics) == "");
  CHECK(workload.jobs.size() == 100);
  CHECK(workload.funnel.format == "elasticflow");
}

TEST_CASE("traces whose units differ by program are not guessed") {
  for (const std::string name :
       {"muri/trace1.csv", "philly_chronus/trace_job_Philly_SLO.csv", "tiresias/60_job.csv"}) {
    const auto file = shared_data("data/traces/" + name);
    if (!file)
      continue;
    CAPTURE(name);
    Diagnostics diagnostics;
    const Workload workload = read_trace({.file = *file}, diagnostics);
    CHECK(workload.jobs.empty());
    CHECK(contains(text_of(diagnostics), "is that of no trace format"));
  }
}

TEST_CASE("the native traces of the schedule checks are read") {
  for (const auto& [name, jobs] : {std::pair{"philly_992_jobs_64_gpus", 992},
                                   {"helios_vc_130_jobs_64_gpus", 130},
                                   {"gavel_96_jobs", 96}}) {
    const auto file = shared_data(std::string("data/schedules/") + name + "/jobs.csv");
    if (!file)
      continue;
    CAPTURE(name);
    Diagnostics diagnostics;
    const Workload workload = read_trace({.file = *file}, diagnostics);
    CHECK(text_of(diagnostics) == "");
    CHECK(workload.funnel.format == "native");
    CHECK(workload.jobs.size() == static_cast<std::size_t>(jobs));
  }
}
