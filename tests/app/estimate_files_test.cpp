// SPDX-License-Identifier: MIT
// What `vtrain estimate` reads and writes besides one job: tables of jobs, time-lines, operator graphs.
#include "common/file.hpp"
#include "tests/app/iteration_rows.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace vtrain;
using namespace vtrain::test;
using namespace vtrain_test;
using Json = nlohmann::json;

namespace {

const std::string kJob =
    "estimate --model gpt3-1.3b --platform dgx-a100-80g --tp 2 --pp 2 --dp 2 --global-batch 16 ";

} // namespace

TEST_CASE("a time-line is JSON that Perfetto reads, and ends when the pipeline does") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(kJob + "--format json --timeline " + quoted(folder / "t.json"));
  REQUIRE_MESSAGE(result.code == 0, result.error);
  const Json timeline = Json::parse(read_file(folder / "t.json"));
  REQUIRE(timeline["traceEvents"].size() > 100);
  double end_us = 0;
  for (const Json& event : timeline["traceEvents"])
    if (event["ph"] == "X")
      end_us = std::max(end_us, event["ts"].get<double>() + event["dur"].get<double>());
  const Json estimate = Json::parse(result.out);
  const double pipeline_s =
      estimate["iteration_time_s"].get<double>() - estimate["breakdown_s"]["other"].get<double>();
  CHECK(end_us == doctest::Approx(1e6 * pipeline_s).epsilon(1e-4));
}

TEST_CASE("an operator graph is a digraph, and files are named at the end of the table") {
  const TemporaryFolder folder;
  const std::string arguments =
      kJob + "--graph " + quoted(folder / "g.dot") + " --timeline " + quoted(folder / "t.json");
  const ProgramResult result = run_program(arguments);
  CHECK(result.code == 0);
  CHECK(read_file(folder / "g.dot").starts_with("digraph"));
  CHECK(contains(result.out, "g.dot"));
  CHECK(contains(result.out, "ui.perfetto.dev"));
  const std::string first = read_file(folder / "g.dot") + read_file(folder / "t.json");
  CHECK(run_program(arguments).code == 0); // replaces files of ours
  CHECK(read_file(folder / "g.dot") + read_file(folder / "t.json") == first);
}

TEST_CASE("a file of another kind is not replaced") {
  const TemporaryFolder folder;
  write_file(folder / "mine", "words");
  for (const char* option : {"--timeline ", "--graph "}) {
    const ProgramResult result = run_program(kJob + option + quoted(folder / "mine"));
    CHECK(result.code == 4);
    CHECK(contains(result.error, "is there already"));
    CHECK(result.out.empty());
  }
  CHECK(read_file(folder / "mine") == "words");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a time-line of too many tasks is refused, and one of many says what it leaves out") {
  const TemporaryFolder folder;
  const ProgramResult refused =
      run_program("estimate --model gpt2-124m --platform dgx-a100-80g --global-batch "
                  "200000 --timeline " +
                  quoted(folder / "t.json"));
  CHECK(refused.code == 2);
  CHECK(line_count(refused.error) == 1);
  CHECK(contains(refused.error, "million tasks"));
  CHECK(folder.entry_count() == 0);
  const ProgramResult cut =
      run_program("estimate --model gpt2-124m --platform dgx-a100-80g --global-batch 2000 --timeline " +
                  quoted(folder / "t.json"));
  CHECK(cut.code == 0);
  CHECK(contains(cut.error, "the time-line shows the first 500000 of "));
}

TEST_CASE("the jobs of a table are estimated, row by row") {
  const TemporaryFolder folder;
  write_file(folder / "rows.csv", measured_rows());
  const std::string arguments = "estimate --rows " + quoted(folder / "rows.csv");
  const Json json = Json::parse(run_program(arguments + " --format json").out);
  REQUIRE(json["rows"].size() == 4);
  CHECK(json["skipped"] == 0);
  const Json& row = json["rows"][0];
  CHECK(row["id"] == "a");
  CHECK(row["measured_s"] == 2.1);
  CHECK(row["low_s"] < row["predicted_s"]);
  CHECK(row["predicted_s"] < row["high_s"]);
  CHECK(row["calibration"] == "a100-megatron");
  const std::string csv = run_program(arguments + " --format csv --calibration textbook").out;
  CHECK(csv.starts_with("id,measured_s,predicted_s,low_s,high_s,calibration,note\na,2.1,"));
  CHECK(contains(csv, ",textbook,"));
  CHECK(line_count(csv) == 5);
  CHECK(contains(run_program(arguments).out, "predicted s"));
}

TEST_CASE("rows need no measured time, and those that cannot be used are counted and named") {
  const TemporaryFolder folder;
  std::string text = replaced(measured_rows(), ",iteration_time_s", ",seconds");
  text = replaced(text, "b,megatron-lm,x,A100-SXM-80GB", "b,megatron-lm,x,A999");
  text = replaced(text, "c,megatron-lm,x,A100-SXM-80GB,32", "c,megatron-lm,x,A100-SXM-80GB,31");
  write_file(folder / "rows.csv", text);
  const ProgramResult result = run_program("estimate --format json --rows " + quoted(folder / "rows.csv"));
  CHECK(result.code == 0);
  const Json json = Json::parse(result.out);
  CHECK(json["rows"].size() == 2);
  CHECK(json["rows"][0]["measured_s"].is_null());
  CHECK(json["skipped"] == 2);
  CHECK(contains(result.error, "row 'b' skipped: the catalogue has no GPU 'A999'"));
  CHECK(contains(result.error, "row 'c' skipped: the plan uses 32 GPUs, the row says 31"));
  const ProgramResult table = run_program("estimate -q --rows " + quoted(folder / "rows.csv"));
  CHECK(contains(table.out, "2 rows skipped"));
  CHECK_FALSE(contains(table.out, "measured s"));
}

TEST_CASE("a table of jobs does not go with what describes one job") {
  const ProgramResult result = run_program("estimate job.yaml --rows rows.csv --tp 2 --graph g.dot");
  CHECK(result.code == 2);
  CHECK(line_count(result.error) == 3);
  CHECK(contains(result.error, "jobs of a table do not go with --tp"));
}

TEST_CASE("published rows are estimated like in the accuracy check") {
  const auto folder = shared_data("data/iteration_time");
  if (!folder)
    return;
  const Json json = Json::parse(
      run_program("estimate --format json --rows " + quoted(*folder / "megatron_a100_published.csv")).out);
  CHECK(json["skipped"] == 0);
  for (const Json& row : json["rows"]) {
    CHECK(row["predicted_s"].get<double>() == doctest::Approx(row["measured_s"].get<double>()).epsilon(0.15));
    CHECK(row["calibration"] == "a100-megatron");
  }
}
