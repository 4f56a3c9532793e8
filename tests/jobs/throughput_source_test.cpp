// SPDX-License-Identifier: MIT
#include "common/file.hpp"
#include "jobs/throughput_source.hpp"
#include "tests/common/temporary_folder.hpp"
#include "tests/jobs/asked_jobs.hpp"
#include "tests/support/shared_data.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace vtrain;
using namespace vtrain_test;

namespace {

ThroughputProfile profile_of(const std::string& csv, Diagnostics& diagnostics) {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "p.csv", csv);
  ThroughputProfile profile = read_throughput_profile(folder / "p.csv", diagnostics);
  profile.file = "p.csv";
  return profile;
}

std::string profile_errors(const std::string& csv) {
  Diagnostics diagnostics;
  (void)profile_of(csv, diagnostics);
  return text_of(diagnostics);
}

/// Resolves one job against a table; the errors.
std::string resolve(Workload& workload, const std::string& csv,
                    const std::vector<std::string>& gpu_names = {"A100"}) {
  Diagnostics diagnostics;
  const ThroughputProfile profile = profile_of(csv, diagnostics);
  resolve_throughput_from_profile(workload, profile, gpu_names, diagnostics);
  return text_of(diagnostics);
}

const std::string kTable = "gpu,model,global_batch,gpus,iterations_per_s\n"
                           "A100,bert,64,1,2\n"
                           "A100,bert,64,4,6\n"
                           "A100,bert,128,1,1.5\n"
                           "T4,bert,64,1,0.25\n"
                           "A100,gpt2,64,1,4\n";

} // namespace

TEST_CASE("from the trace a job works for its recorded duration") {
  Workload workload = workload_of({{.gpus = 4, .duration_s = 100.0}, {.duration_s = 0.0}});
  Diagnostics diagnostics;
  resolve_throughput_from_trace(workload, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(workload.jobs[0].duration == Seconds(100.0));
  CHECK(workload.jobs[0].work == 100.0);
  CHECK(workload.rate(workload.jobs[0], GpuCount(4)) == PerSecond(1.0));
  CHECK(workload.jobs[1].work == 0.0);
}

TEST_CASE("from the trace a job without a duration is an error at its line") {
  Workload workload = workload_of({{.duration_s = 1.0}, {.name = "k", .iterations = 5}});
  Diagnostics diagnostics;
  resolve_throughput_from_trace(workload, diagnostics);
  CHECK(contains(text_of(diagnostics), "t.csv:3: error: job 'k' has no recorded duration"));
}

TEST_CASE("a profile gives a job the curve of its model and batch on the GPU") {
  Workload workload =
      workload_of({{.gpus = 4, .iterations = 60}, {.iterations = 10}, {.batch = 128, .iterations = 3}});
  CHECK(resolve(workload, kTable) == "");
  CHECK(workload.jobs[0].work == 60.0);
  CHECK(workload.jobs[0].duration == Seconds(10.0));
  CHECK(workload.rate(workload.jobs[0], GpuCount(1)) == PerSecond(2.0));
  CHECK_FALSE(workload.rate(workload.jobs[0], GpuCount(2)));
  CHECK(workload.jobs[1].curve == workload.jobs[0].curve);
  CHECK(workload.jobs[2].duration == Seconds(2.0));
  CHECK(workload.curves.size() == 3); // the placeholder and one for each model and batch in use
  CHECK(workload.jobs[0].max_gpus == GpuCount(4));
}

TEST_CASE("a GPU's name and aliases match in any letter case") {
  Workload workload = workload_of({{.iterations = 1}});
  CHECK(resolve(workload, kTable, {"Tesla-T4", "t4"}) == "");
  CHECK(workload.jobs[0].duration == Seconds(4.0));
}

TEST_CASE("a job with only a duration works as long at its own GPUs") {
  Workload workload = workload_of({{.gpus = 4, .duration_s = 10.0}});
  CHECK(resolve(workload, kTable) == "");
  CHECK(workload.jobs[0].work == 60.0);
  CHECK(workload.jobs[0].duration == Seconds(10.0));
}

TEST_CASE("iterations go before the recorded duration") {
  Workload workload = workload_of({{.iterations = 20, .duration_s = 99.0}});
  CHECK(resolve(workload, kTable) == "");
  CHECK(workload.jobs[0].duration == Seconds(10.0));
}

TEST_CASE("rows without GPU and batch match any") {
  Workload workload = workload_of({{.batch = 0, .iterations = 6}, {.batch = 7, .iterations = 6}});
  CHECK(resolve(workload, "model,gpus,iterations_per_s\nbert,1,3\n") == "");
  CHECK(workload.jobs[0].duration == Seconds(2.0));
  CHECK(workload.jobs[1].duration == Seconds(2.0));
}

TEST_CASE("a row for the job's own batch goes before one for any batch") {
  Workload workload = workload_of({{.iterations = 6}, {.batch = 7, .iterations = 6}});
  CHECK(resolve(workload, "model,global_batch,gpus,iterations_per_s\nbert,,1,3\nbert,64,1,6\n") == "");
  CHECK(workload.jobs[0].duration == Seconds(1.0));
  CHECK(workload.jobs[1].duration == Seconds(2.0));
}

TEST_CASE("what a profile lacks is named with what it has") {
  Workload model = workload_of({{.name = "m", .model = "bart", .iterations = 1}});
  CHECK(contains(resolve(model, kTable),
                 "t.csv:2: error: p.csv has no model 'bart', which job 'm' trains; did you mean 'bert'?"));
  Workload batch = workload_of({{.batch = 32, .iterations = 1}});
  CHECK(
      contains(resolve(batch, kTable),
               "job 'j' trains 'bert' with global batch 32, which p.csv lacks; it has global batch 64, 128"));
  Workload no_batch = workload_of({{.batch = 0, .iterations = 1}});
  CHECK(contains(resolve(no_batch, kTable), "job 'j' trains 'bert' without a global batch"));
  Workload gpus = workload_of({{.gpus = 2, .iterations = 1}});
  CHECK(contains(resolve(gpus, kTable),
                 "job 'j' asks for 2 GPUs, and p.csv has no rate of 'bert' on so many; it has 1, 4"));
  Workload nameless = workload_of({{.model = "", .iterations = 1}});
  CHECK(contains(resolve(nameless, kTable), "job 'j' has no model"));
  Workload idle = workload_of({{}});
  CHECK(contains(resolve(idle, kTable), "job 'j' has neither iterations nor a duration"));
}

TEST_CASE("a profile of other GPUs is one error") {
  Workload workload = workload_of({{.iterations = 1}, {.iterations = 1}});
  const std::string errors = resolve(workload, kTable, {"H100-SXM", "H100"});
  CHECK(
      errors ==
      "p.csv: error: the profile has no rates for the cluster's GPU, H100-SXM; it has rates for A100, T4\n");
}

TEST_CASE("two names of one GPU must not give two rates") {
  Workload workload = workload_of({{.iterations = 1}});
  const std::string errors =
      resolve(workload, "gpu,model,gpus,iterations_per_s\nA100,bert,1,3\nA100-80GB,bert,1,4\n",
              {"A100-80GB", "A100"});
  CHECK(contains(errors, "p.csv:3: error: 'A100-80GB' and 'A100' of line 2 name the same GPU"));
}

TEST_CASE("rates that are not available are left out") {
  Diagnostics diagnostics;
  const ThroughputProfile profile =
      profile_of("model,gpus,iterations_per_s\na,1,\na,2,0\na,4,nan\na,8,2.5\na,16,NaN\n", diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(profile.rows.size() == 1);
  CHECK(profile.rows[0].gpus == GpuCount(8));
  CHECK(profile.rows[0].line == 5);
  CHECK(profile.sha256.size() == 64);
}

TEST_CASE("a scattered row is the speed of a gang that is on more nodes than it needs") {
  Diagnostics diagnostics;
  const ThroughputProfile profile = profile_of("placement,model,gpus,iterations_per_s\nconsolidated,a,2,2\n"
                                               "scattered,a,2,1\n,a,4,3\nscattered,a,8,1\n",
                                               diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(profile.rows.size() == 4);
  Workload workload = workload_of({{.gpus = 2, .model = "a", .iterations = 100}});
  resolve_throughput_from_profile(workload, profile, {"A100"}, diagnostics);
  CHECK(contains(text_of(diagnostics), "1 rows for scattered GPUs have no consolidated partner"));
  const Job& job = workload.jobs[0];
  CHECK(job.duration == Seconds(50)); // requests are counted consolidated
  CHECK(workload.rate(job, GpuCount(2)) == PerSecond(2));
  const GangSpread apart{.consolidated = false, .fewest_on_node = 1};
  CHECK(workload.speed(job, GpuCount(2), apart)->rate == PerSecond(1));
  CHECK(workload.speed(job, GpuCount(4), apart)->rate == PerSecond(3)); // it does not matter
  CHECK_FALSE(workload.speed(job, GpuCount(8), {}));
}

TEST_CASE("wrong values of a profile are errors at their places") {
  CHECK(contains(profile_errors("modell,gpus,rate\na,1,1\n"), "p.csv:1:1: error: column 'model' is missing"));
  CHECK(contains(profile_errors("modell,gpus,rate\na,1,1\n"), "column 'iterations_per_s' is missing"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\na,one,1\n"),
                 "p.csv:2:3: error: 'one' is not a whole number from 1 up"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\na,0,1\n"),
                 "'0' is not a whole number from 1 up"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\na,1,-1\n"),
                 "p.csv:2:5: error: '-1' is not a rate"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\na,1,1x\n"), "'1x' is not a rate"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\n,1,1\n"), "model is empty"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s,placement\na,1,1,scatered\n"),
                 "unknown placement 'scatered'; did you mean 'scattered'?"));
  CHECK(contains(profile_errors("model,gpus,iterations_per_s\na,1,1\na,2,1\na,1,3\n"),
                 "p.csv:4:1: error: the same model, batch and GPUs stand on line 2 already"));
}

TEST_CASE("the measured profiles of ElasticFlow and Gavel are read") {
  if (const auto file = test::shared_data("data/elasticflow/throughput_profiles.csv")) {
    Diagnostics diagnostics;
    const ThroughputProfile profile = read_throughput_profile(*file, diagnostics);
    CHECK(text_of(diagnostics) == "");
    CHECK(profile.rows.size() > 100);
    Workload workload = workload_of({{.batch = 64, .iterations = 1000}});
    resolve_throughput_from_profile(workload, profile, {"A100"}, diagnostics);
    CHECK(text_of(diagnostics) == "");
    CHECK(workload.jobs[0].duration.base() == doctest::Approx(1000 / 6.030661553957379));
  }
  if (const auto file = test::shared_data("data/schedules/gavel_96_jobs/throughput_profiles.csv")) {
    Diagnostics diagnostics;
    const ThroughputProfile profile = read_throughput_profile(*file, diagnostics);
    CHECK(text_of(diagnostics) == "");
    CHECK(std::ranges::count(profile.rows, false, &ProfileRow::scattered) ==
          68); // one rate is 0: not available
    CHECK(std::ranges::count(profile.rows, true, &ProfileRow::scattered) > 0);
  }
}
