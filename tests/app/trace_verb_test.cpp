// SPDX-License-Identifier: MIT
#include "app/trace_inspection.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"
#include "tests/app/command_run.hpp"
#include "tests/common/temporary_folder.hpp"
#include "traces/trace_reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace vtrain;
using vtrain_test::CommandResult;
using vtrain_test::TemporaryFolder;

namespace {

constexpr const char* kTrace = "job_id,submit_s,gpus,duration_s,deadline_s\n"
                               "a,0,1,3600,7200\n"
                               "b,1800,8,7200,5000\n"
                               "z,1900,0,10,\n"
                               "c,3600,8,60,\n"
                               "d,3600,16,60,\n";

CommandResult run(std::vector<std::string> arguments) {
  CommandLine command;
  add_trace(command);
  return vtrain_test::run(command, std::move(arguments));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("inspecting a trace shows its rows, widths, load and deadlines") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", kTrace);
  const CommandResult result = run({"trace", "inspect", (folder / "jobs.csv").string(), "--gpus", "8", "-q"});
  CHECK(result.code == 0);
  for (const char* part : {"5 read, 4 jobs", "1 dropped: ", "within 1 h (clock 0 to 3600 s)",
                           "1 at the same time as the job before", "1 jobs ask for more than 8 GPUs",
                           "2 jobs (50.00 %), 1 cannot be met", "00:00", "23:00"})
    CHECK_MESSAGE(contains(result.out, part), part);
}

TEST_CASE("inspecting a trace gives JSON with the same figures") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", kTrace);
  const CommandResult result =
      run({"trace", "inspect", (folder / "jobs.csv").string(), "--gpus", "8", "-q", "--format", "json"});
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(json["format"] == "native");
  CHECK(json["sha256"].get<std::string>().size() == 64);
  CHECK(json["jobs"] == 4);
  CHECK(json["funnel"]["rows_read"] == 5);
  CHECK(json["offered_load"]["wider_jobs"] == 1);
  const double gpu_seconds = 3600.0 + 8 * 7200.0 + 8 * 60.0 + 16 * 60.0;
  CHECK(json["gpu_hours"].get<double>() == doctest::Approx(gpu_seconds / 3600.0));
  CHECK(json["offered_load"]["load"].get<double>() == doctest::Approx(gpu_seconds / 3600.0 / 8.0));
  CHECK(json["widths"].size() == 3);
  CHECK(json["widths"][1]["gpus"] == 8);
  CHECK(json["widths"][1]["share_of_jobs"] == 0.5);
  CHECK(json["by_hour"][0] == 2);
  CHECK(json["by_hour"][1] == 2);
  CHECK(json["infeasible_deadlines"] == 1);
}

TEST_CASE("inspecting a trace gives CSV of one figure a line") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", kTrace);
  const std::string csv =
      run({"trace", "inspect", (folder / "jobs.csv").string(), "-q", "--format", "csv"}).out;
  CHECK(csv.starts_with("figure,value\n"));
  CHECK(contains(csv, "\njobs,4\n"));
  CHECK(contains(csv, "\nduration_s.p50,60\n"));
  CHECK(contains(csv, "\noffered_load,\n")); // no cluster was named
  CHECK(contains(csv, "\nwidths.0.gpus,1\n"));
}

TEST_CASE("a trace that keeps no job can be inspected") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,0,10\n");
  for (const char* format : {"table", "json", "csv"}) {
    const CommandResult result =
        run({"trace", "inspect", (folder / "jobs.csv").string(), "-q", "--gpus", "4", "--format", format});
    CHECK(result.code == 0);
    CHECK_FALSE(contains(result.out, "nan"));
  }
}

TEST_CASE("wrong arguments of trace inspect are errors with a suggestion") {
  CHECK(contains(run({"trace", "inspect", "x.csv", "--trace-format", "natve"}).error,
                 "unknown trace format 'natve'; did you mean 'native'?"));
  CHECK(contains(run({"trace", "inspect", "x.csv", "--gpus", "0"}).error,
                 "--gpus: error: 0 is not between 1 and"));
}

TEST_CASE("a generated trace is one that can be inspected, and depends on the seed alone") {
  const TemporaryFolder folder;
  const std::string file = (folder / "jobs.csv").string();
  CHECK(run({"trace", "generate", "-o", file, "--jobs", "50", "--gpus", "32", "--seed", "3"}).code == 0);
  const std::string first = read_file(file);
  CHECK(
      run({"trace", "generate", "-o", file, "--jobs", "50", "--gpus", "32", "--seed", "3", "--force"}).code ==
      0);
  CHECK(read_file(file) == first);
  CHECK(
      run({"trace", "generate", "-o", file, "--jobs", "50", "--gpus", "32", "--seed", "4", "--force"}).code ==
      0);
  CHECK(read_file(file) != first);
  const CommandResult result = run({"trace", "inspect", file, "--format", "json"});
  CHECK(nlohmann::json::parse(result.out)["jobs"] == 50);
}

TEST_CASE("generating a trace does not replace a file unless it is forced to") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", "mine");
  CHECK_THROWS_AS((void)run({"trace", "generate", "-o", (folder / "jobs.csv").string()}), IoError);
  CHECK(read_file(folder / "jobs.csv") == "mine");
}

TEST_CASE("wrong arguments of trace generate are errors") {
  CHECK(contains(run({"trace", "generate"}).error, "option '--output' is missing"));
  CHECK(contains(run({"trace", "generate", "-o", "x", "--load", "0"}).error,
                 "--load: error: 0 is no offered load"));
  CHECK(contains(run({"trace", "generate", "-o", "x", "--jobs", "0"}).error,
                 "--jobs: error: 0 is not between"));
}
