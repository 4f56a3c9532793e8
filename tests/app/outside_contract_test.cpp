// SPDX-License-Identifier: MIT
// The built command from outside: exit codes, what is written, and that bytes do not depend on anything but
// the input.
#include "common/file.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

using namespace vtrain;
using namespace vtrain::test;

namespace {

const std::string kQuickstart = std::string("'") + VTRAIN_SOURCE_DIR + "/docs/examples/quickstart.yaml'";

std::string quoted(const std::filesystem::path& path) {
  return "'" + path.string() + "'";
}

/// Names and bytes of all files of a folder of results but the manifests.
std::string content(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "manifest.json")
      files.push_back(entry.path().lexically_relative(folder));
  std::sort(files.begin(), files.end());
  std::string out;
  for (const auto& file : files)
    out += file.string() + "\n" + read_file(folder / file) + "\n";
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("two runs, one or two processes, other folders and locales give the same bytes") {
  const vtrain_test::TemporaryFolder folder;
  const std::string compare = "compare " + kQuickstart + " --policies fifo,srtf,las,easy -q ";
  REQUIRE(run_program(compare + "-j 1 -o " + quoted(folder / "a")).code == 0);
  REQUIRE(run_program(compare + "-j 2 -o " + quoted(folder.path() / "deep" / "er" / "b"),
                      "cd / && LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo")
              .code == 0);
  CHECK(content(folder / "a") == content(folder.path() / "deep" / "er" / "b"));
  REQUIRE(run_program("simulate " + kQuickstart + " -q -o " + quoted(folder / "c")).code == 0);
  CHECK(read_file(folder / "c" / "jobs.csv") == read_file(folder / "a" / "fifo" / "jobs.csv"));
}

TEST_CASE("a run replaces results of ours, refuses a folder that is not ours, and leaves it as it was") {
  const vtrain_test::TemporaryFolder folder;
  const std::string simulate = "simulate " + kQuickstart + " -q -o ";
  CHECK(run_program(simulate + quoted(folder / "a")).code == 0);
  CHECK(run_program(simulate + quoted(folder / "a")).code == 0);
  std::filesystem::create_directory(folder / "mine");
  write_file(folder / "mine" / "thesis.tex", "words");
  const ProgramResult refused = run_program(simulate + quoted(folder / "mine"));
  CHECK(refused.code == 4);
  CHECK(contains(refused.error, "manifest.json"));
  CHECK(read_file(folder / "mine" / "thesis.tex") == "words");
  CHECK(folder.entry_count() == 2);
}

TEST_CASE("when the disk is full while writing, nothing half-written is left and the old results stay") {
  const vtrain_test::TemporaryFolder folder;
  const std::string simulate = "simulate " + kQuickstart + " -q -o " + quoted(folder / "a");
  REQUIRE(run_program(simulate).code == 0);
  const std::string before = content(folder / "a");
  const ProgramResult full = run_program(simulate + " --set scheduler.policy=srtf", "ulimit -f 40;");
  CHECK(full.code == 4);
  CHECK(contains(full.error, "cannot write"));
  CHECK(content(folder / "a") == before);
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a result that cannot be printed is an error") {
  const vtrain_test::TemporaryFolder folder;
  CHECK(run_program("list policies", "sh -c 'exec \"$0\" \"$@\" > /dev/full'").code == 4);
}

TEST_CASE("an interrupted run ends with 130, marks what it has written, and keeps earlier results") {
  const vtrain_test::TemporaryFolder folder;
  REQUIRE(run_program("trace generate --jobs 300000 --gpus 256 --seed 2 -o " + quoted(folder / "jobs.csv"))
              .code == 0);
  const std::string simulate = "simulate " + kQuickstart + " -q --set scheduler.policy=srtf -o ";
  const std::string arguments = " --set workload.trace.file=" + quoted(folder / "jobs.csv");
  REQUIRE(run_program(simulate + quoted(folder / "kept")).code == 0);
  const std::string before = content(folder / "kept");
  // The signal comes while it reads, simulates or writes, all of which must end well.
  int interrupted = 0;
  for (const char* delay : {"0.25", "0.4", "0.6"}) {
    CAPTURE(std::string(delay));
    const std::string prefix = std::string("timeout --preserve-status -s INT ") + delay;
    std::filesystem::remove_all(folder / "new");
    const ProgramResult fresh = run_program(simulate + quoted(folder / "new") + arguments, prefix);
    const ProgramResult again = run_program(simulate + quoted(folder / "kept") + arguments, prefix);
    // On a busy machine the signal may find a process that has not come to its first line.
    const auto never_began = [](const ProgramResult& r) { return r.code == 130 && r.error.empty(); };
    if (never_began(fresh) || never_began(again))
      continue;
    if (fresh.code == 0 || again.code == 0) // a fast machine was done before the signal
      break;
    ++interrupted;
    CHECK(fresh.code == 130);
    CHECK(contains(fresh.error, "interrupted"));
    CHECK(contains(read_file(folder / "new" / "manifest.json"), "\"status\": \"interrupted\""));
    CHECK(again.code == 130);
    CHECK(contains(again.error, "were kept"));
    CHECK(content(folder / "kept") == before);
  }
  CHECK(interrupted > 0);
  CHECK(folder.entry_count() == 3); // the trace and two results: no temporary folder is left
}

TEST_CASE("a broken threshold is exit 1 and says which") {
  const vtrain_test::TemporaryFolder folder;
  const ProgramResult result = run_program(
      "simulate " + kQuickstart + " -q --set 'thresholds.jct_p99=\"< 1s\"' -o " + quoted(folder / "a"));
  CHECK(result.code == 1);
  CHECK(contains(result.error, "jct_p99_s"));
  CHECK(std::filesystem::exists(folder / "a" / "summary.json"));
}

TEST_CASE("the command starts in under 50 ms") {
#if defined(__SANITIZE_ADDRESS__)
  constexpr double kLimit = 1.0; // the sanitizer's own start counts too
#else
  constexpr double kLimit = 0.05;
#endif
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(run_program("--help").code == 0);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  CHECK(best < kLimit);
}

TEST_SUITE("scenario") {
  TEST_CASE("every ITP trace runs under every policy, and no job is lost") {
    const auto folder = shared_data("data/traces/itp_elasticflow/raw");
    if (!folder)
      return;
    const vtrain_test::TemporaryFolder out;
    for (int cluster = 1; cluster <= 10; ++cluster) {
      const std::string name = (cluster < 10 ? "cluster0" : "cluster") + std::to_string(cluster) + ".csv";
      const ProgramResult result = run_program("compare '" + std::string(VTRAIN_SOURCE_DIR) +
                                               "/docs/examples/itp.yaml' -q --policies all --format csv "
                                               "--set cluster=a100-1024 --set workload.trace.file=" +
                                               quoted(*folder / name) + " -o " + quoted(out / "o"));
      CHECK_MESSAGE(result.code == 0, name, ": ", result.error);
      // Header, and a row for each policy: in none is a job unfinished, rejected or failed.
      for (const auto& entry : std::filesystem::directory_iterator(out / "o"))
        if (entry.is_directory()) {
          const std::string summary = read_file(entry.path() / "summary.json");
          CHECK(contains(summary, "\"unfinished\": 0"));
          CHECK(contains(summary, "\"rejected\": 0"));
        }
    }
  }
}
