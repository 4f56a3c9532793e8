// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace vtrain;
using namespace vtrain::test;

namespace {
const std::string kHeader = "job_id,submit_s,gpus,duration_s\n";
} // namespace

TEST_CASE("jobs are ranked by submit time and equal times keep file order") {
  const TraceReading reading = read_text(kHeader + "a,5,1,1\nb,3,1,1\nc,5,1,1\nd,3,1,1\ne,9,1,1\n");
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "b d a c e");
  CHECK(reading.workload.funnel.descents == 2);
  CHECK(reading.workload.jobs[0].line == 3); // lines are those of the file
}

TEST_CASE("a sorted trace has no descents") {
  const TraceReading reading = read_text(kHeader + "a,0,1,1\nb,0,1,1\nc,7,1,1\n");
  CHECK(names_of(reading.workload) == "a b c");
  CHECK(reading.workload.funnel.descents == 0);
}

TEST_CASE("rows that are left out count as descents all the same") {
  const TraceReading reading =
      read_text(kHeader + "a,5,1,1\nb,3,0,1\nc,6,1,1\n", {.file = {}, .zero_gpu = ZeroGpuRows::drop});
  CHECK(reading.workload.funnel.descents == 1);
}

TEST_CASE("the order of a shuffled trace is that of a stable sort") {
  RandomStream random = RandomStreams(7).stream("shuffled trace");
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  std::string text = kHeader;
  std::size_t descents = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t submit = random.below(300);
    if (!rows.empty() && submit < rows.back().first)
      ++descents;
    rows.emplace_back(submit, "j" + std::to_string(i));
    text += rows.back().second + "," + std::to_string(submit) + ",1,1\n";
  }
  const TraceReading reading = read_text(text);
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
  REQUIRE(reading.workload.jobs.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK_EQ(reading.workload.strings.text(reading.workload.jobs[i].name), rows[i].second);
  CHECK(reading.workload.funnel.descents == descents);
}
