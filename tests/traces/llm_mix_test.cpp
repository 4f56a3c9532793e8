// SPDX-License-Identifier: MIT
#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"
#include "traces/llm_mix.hpp"
#include "traces/trace_reader.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace vtrain;

TEST_CASE("the bundled mix is what the generator makes") {
  CHECK(read_file(VTRAIN_SOURCE_DIR "/traces/samples/llm-mix.csv") ==
        generate_llm_mix({.jobs = 300, .seed = 1, .cluster_gpus = GpuCount(512), .load = 1.0}));
}

TEST_CASE("a mix reads as a trace of jobs that fit, with iterations and no durations") {
  for (const int gpus : {4, 64, 512}) {
    CAPTURE(gpus);
    const vtrain_test::TemporaryFolder folder;
    write_file(folder / "mix.csv",
               generate_llm_mix({.jobs = 200, .seed = 7, .cluster_gpus = GpuCount(gpus), .load = 0.5}));
    Diagnostics diagnostics;
    const Workload workload = read_trace({.file = folder / "mix.csv"}, diagnostics);
    CHECK(diagnostics.kept().empty());
    REQUIRE(workload.jobs.size() == 200);
    std::set<std::string> models;
    for (const Job& job : workload.jobs) {
      CHECK(job.max_gpus <= GpuCount(gpus));
      CHECK(job.min_gpus <= job.gpus);
      CHECK(job.iterations >= 1);
      CHECK_FALSE(job.recorded_duration);
      CHECK(job.global_batch > 0);
      models.emplace(workload.strings.text(job.model));
    }
    CHECK(models.size() >= (gpus == 512 ? 8 : 1));
  }
  CHECK(generate_llm_mix({.seed = 1}) != generate_llm_mix({.seed = 2}));
  CHECK_THROWS_AS(generate_llm_mix({.cluster_gpus = GpuCount(2)}), InputError);
}
