// SPDX-License-Identifier: MIT
#include "app/job_view.hpp"
#include "app/run_folder.hpp"
#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using vtrain_test::TemporaryFolder;

namespace {

constexpr const char* kJobs =
    "job_id,user,model,state,submit_s,wait_s,jct_s,gpus_requested,met_deadline,note\n"
    "10,ann,gpt,COMPLETED,0,0,100,8,true,b\n"
    "9,bob,gpt,REJECTED,1.5,,,64,,a\n"
    "x<1>,ann,,COMPLETED,2,5.5,9,2,false,\n"
    "4,cyd,llama,COMPLETED,3,0,100,1,,c\n"
    "5,cyd,llama,PENDING,4,,,1,,a\n";

CsvTable sample() {
  Diagnostics diagnostics;
  return CsvTable::parse(kJobs, "jobs.csv", diagnostics);
}

/// The ids of the jobs that a view shows, in order.
std::string ids(JobViewOptions options) {
  options.columns = {"job_id"};
  std::string out;
  const ResultTable table = view_jobs(sample(), options, OutputFormat::csv);
  for (std::size_t row = 0; row < table.rows().size(); ++row)
    out += (row == 0 ? "" : " ") + table.shown(row, 0);
  return out;
}

std::string error_of(const JobViewOptions& options) {
  try {
    (void)view_jobs(sample(), options, OutputFormat::table);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

std::string read_error(const std::filesystem::path& folder) {
  Diagnostics diagnostics;
  try {
    (void)read_jobs(folder, diagnostics);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("jobs keep the order of the trace when nothing is asked for") {
  CHECK(ids({}) == "10 9 x<1> 4 5");
}

TEST_CASE("jobs sort by numbers as numbers, with empty fields last and ties in trace order") {
  CHECK(ids({.states = {}, .sort = {"jct_s"}, .columns = {}, .limit = {}}) == "x<1> 10 4 9 5");
  CHECK(ids({.states = {}, .sort = {"-jct_s"}, .columns = {}, .limit = {}}) == "10 4 x<1> 9 5");
  CHECK(ids({.states = {}, .sort = {"gpus_requested"}, .columns = {}, .limit = {}}) == "4 5 x<1> 10 9");
}

TEST_CASE("jobs sort by text, and by several columns") {
  CHECK(ids({.states = {}, .sort = {"note"}, .columns = {}, .limit = {}}) == "9 5 10 4 x<1>");
  CHECK(ids({.states = {}, .sort = {"-user", "-submit_s"}, .columns = {}, .limit = {}}) == "5 4 9 x<1> 10");
}

TEST_CASE("jobs are chosen by state in any letter case, and limited after sorting") {
  CHECK(ids({.states = {"completed"}, .sort = {}, .columns = {}, .limit = {}}) == "10 x<1> 4");
  CHECK(ids({.states = {"REJECTED", "Pending"}, .sort = {}, .columns = {}, .limit = {}}) == "9 5");
  CHECK(ids({.states = {}, .sort = {"-jct_s"}, .columns = {}, .limit = 2}) == "10 4");
  CHECK(ids({.states = {"FAILED"}, .sort = {}, .columns = {}, .limit = {}}).empty());
  CHECK(ids({.states = {}, .sort = {}, .columns = {}, .limit = 0}).empty());
}

TEST_CASE("unknown states and columns of jobs are errors with a suggestion, all at once") {
  const std::string error =
      error_of({.states = {"COMPLETD"}, .sort = {"-jtc_s"}, .columns = {"usr"}, .limit = {}});
  CHECK(contains(error, "--state: error: unknown state 'COMPLETD'; did you mean 'COMPLETED'?"));
  CHECK(contains(error, "--sort: error: unknown column 'jtc_s'; did you mean 'jct_s'?"));
  CHECK(contains(error, "--columns: error: unknown column 'usr'; did you mean 'user'?"));
}

TEST_CASE("a table of jobs shows chosen columns, JSON and CSV show all") {
  CHECK(view_jobs(sample(), {}, OutputFormat::csv).to_csv() == kJobs);
  const ResultTable text = view_jobs(sample(), {}, OutputFormat::table);
  CHECK(text.columns().size() == 8); // no user, no note
  CHECK(text.columns()[0].name == "job_id");
}

TEST_CASE("jobs in JSON have numbers, truth values and nulls, and ids stay text") {
  const std::string json =
      view_jobs(sample(), {.states = {}, .sort = {}, .columns = {}, .limit = 2}, OutputFormat::json)
          .to_json();
  CHECK(contains(json, "\"job_id\": \"10\""));
  CHECK(contains(json, "\"jct_s\": 100"));
  CHECK(contains(json, "\"submit_s\": 1.5"));
  CHECK(contains(json, "\"met_deadline\": true"));
  CHECK(contains(json, "\"jct_s\": null"));
}

TEST_CASE("a list on the command line is split at commas") {
  CHECK(split_list("a,b,,c") == std::vector<std::string>{"a", "b", "c"});
  CHECK(split_list("").empty());
}

TEST_CASE("the jobs of a run are read from its folder") {
  const TemporaryFolder folder;
  write_file(folder / "jobs.csv", kJobs);
  Diagnostics diagnostics;
  CHECK(read_jobs(folder.path(), diagnostics).row_count() == 5);
}

TEST_CASE("a folder that is no run is an error that says where runs are") {
  const TemporaryFolder folder;
  CHECK(contains(read_error(folder / "absent"), "there is no such folder"));
  CHECK(contains(read_error(folder.path()),
                 "this folder holds no jobs.csv; name the folder that 'vtrain simulate' wrote"));
  for (const char* name : {"srtf", "fifo"}) {
    std::filesystem::create_directory(folder / name);
    write_file(folder / name / "jobs.csv", kJobs);
  }
  const std::string error = read_error(folder.path());
  CHECK(contains(error, "it holds several runs; name one of them: " + (folder / "fifo").string() + ", " +
                            (folder / "srtf").string()));
  CHECK(contains(read_error(folder / "fifo" / "jobs.csv"), "this is a file, not the folder of a run"));
}
