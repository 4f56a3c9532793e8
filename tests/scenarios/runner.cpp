// SPDX-License-Identifier: MIT
// scenario_runner VTRAIN FOLDER: runs FOLDER/experiment.yaml and compares what comes out with
// FOLDER/expect.yaml.
//
//     exit: 0                                  # exit code; 0 if left out
//     stderr: "priority"                       # a part of what is printed there
//     counts: {completed: 3}                   # of summary.json, `jobs`
//     metrics: {makespan_s: 1200}              # of summary.json, `metrics`; ~ where one does not apply
//     jobs:                                    # by job_id: columns of jobs.csv
//       a: {start_s: 0, end_s: 1000, state: COMPLETED}
//
// Numbers agree to nine digits, other values exactly; "" is an empty field.
#include "common/config.hpp"
#include "common/csv.hpp"
#include "common/file.hpp"
#include "common/number.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>

using namespace vtrain;
namespace fs = std::filesystem;

namespace {

constexpr double kTolerance = 1e-9;

bool same_value(const std::string& expected, const std::string& got) {
  const std::optional<double> a = parse_number(expected);
  const std::optional<double> b = parse_number(got);
  if (a && b)
    return std::abs(*a - *b) <= kTolerance * std::max(1.0, std::abs(*a));
  return expected == got;
}

/// What a scenario expects, held against what came out; prints each difference.
class Comparison {
public:
  void expect(const std::string& what, const ConfigNode& expected, const std::string& got) {
    ++compared_;
    if (same_value(expected.scalar, got))
      return;
    ++differences_;
    std::printf("%s:%zu: expected %s = '%s', got '%s'\n", expected.where.file.c_str(), expected.where.line,
                what.c_str(), expected.scalar.c_str(), got.c_str());
  }
  void complain(const ConfigNode& expected, const std::string& sentence) {
    ++differences_;
    std::printf("%s:%zu: %s\n", expected.where.file.c_str(), expected.where.line, sentence.c_str());
  }
  [[nodiscard]] std::size_t compared() const { return compared_; }
  [[nodiscard]] std::size_t differences() const { return differences_; }

private:
  std::size_t compared_ = 0;
  std::size_t differences_ = 0;
};

void compare_jobs(Comparison& comparison, const ConfigNode& expected, const fs::path& file) {
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(file, diagnostics);
  diagnostics.throw_if_errors();
  const std::size_t id = table.column("job_id").value();
  for (const ConfigNode::Entry& job : expected.entries) {
    std::size_t row = 0;
    while (row < table.row_count() && table.field(row, id) != job.key)
      ++row;
    if (row == table.row_count()) {
      comparison.complain(job.value, "there is no job " + job.key);
      continue;
    }
    for (const ConfigNode::Entry& column : job.value.entries)
      if (const auto at = table.column(column.key))
        comparison.expect(job.key + "." + column.key, column.value, std::string(table.field(row, *at)));
      else
        comparison.complain(column.value, "jobs.csv has no column " + column.key);
  }
}

void compare_numbers(Comparison& comparison, const ConfigNode& expected, const nlohmann::json& got) {
  for (const ConfigNode::Entry& entry : expected.entries) {
    const auto value = got.find(entry.key);
    if (value == got.end())
      comparison.complain(entry.value, "summary.json has no " + entry.key);
    else
      comparison.expect(entry.key, entry.value, value->is_null() ? "" : value->dump());
  }
}

int run_scenario(const std::string& vtrain, const fs::path& folder, const fs::path& scratch) {
  Diagnostics diagnostics;
  const ConfigNode expected = read_yaml(folder / "expect.yaml", diagnostics);
  diagnostics.throw_if_errors();
  const std::string command = "'" + vtrain + "' simulate '" + (folder / "experiment.yaml").string() +
                              "' -o '" + (scratch / "out").string() + "' >'" + (scratch / "stdout").string() +
                              "' 2>'" + (scratch / "stderr").string() + "'";
  const int status = std::system(command.c_str());
  const std::string said = read_file(scratch / "stderr");

  Comparison comparison;
  ConfigNode zero = ConfigNode::text("0");
  zero.where = expected.where;
  const ConfigNode* exit_code = expected.find("exit");
  comparison.expect("exit code", exit_code == nullptr ? zero : *exit_code,
                    std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  for (const ConfigNode::Entry& entry : expected.entries) {
    if (entry.key == "exit")
      continue;
    if (entry.key == "stderr") {
      if (said.find(entry.value.scalar) == std::string::npos)
        comparison.complain(entry.value, "stderr lacks '" + entry.value.scalar + "'");
    } else if (!fs::exists(scratch / "out" / "summary.json")) {
      comparison.complain(entry.value, "there are no results to compare " + entry.key + " with");
    } else if (entry.key == "jobs") {
      compare_jobs(comparison, entry.value, scratch / "out" / "jobs.csv");
    } else if (entry.key == "counts" || entry.key == "metrics") {
      const auto summary = nlohmann::json::parse(read_file(scratch / "out" / "summary.json"));
      compare_numbers(comparison, entry.value, summary.at(entry.key == "counts" ? "jobs" : "metrics"));
    } else {
      comparison.complain(entry.value, "unknown key '" + entry.key + "'");
    }
  }
  if (comparison.differences() > 0)
    std::printf("%s\nsaid: %s\n", command.c_str(), said.c_str());
  std::printf("%zu values compared, %zu differences\n", comparison.compared(), comparison.differences());
  return comparison.differences() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: scenario_runner VTRAIN FOLDER\n", stderr);
    return 2;
  }
  std::string scratch = (fs::temp_directory_path() / "vtrain-scenario-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) {
    std::perror("scenario_runner: no temporary folder");
    return 2;
  }
  int result = 2;
  try {
    result = run_scenario(argv[1], argv[2], scratch);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  return result;
}
