// SPDX-License-Identifier: MIT
// Ranks of plans by hand, and the plans that would have been picked on measured jobs.
#include "tests/vtrain_core/core_cases.hpp"
#include "tests/vtrain_core/measured_cases.hpp"
#include "vtrain_core/calibration/ranking.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

struct Times {
  double measured;
  double predicted;
};

/// Jobs by hand: rows of one job have the same batch.
std::vector<MeasuredRow> rows_of(const std::vector<std::vector<Times>>& jobs) {
  std::vector<MeasuredRow> rows;
  for (std::size_t job = 0; job < jobs.size(); ++job)
    for (const Times& times : jobs[job]) {
      MeasuredRow row;
      row.id = std::to_string(job) + "." + std::to_string(rows.size());
      row.plan.global_batch = static_cast<std::int64_t>(8 * (job + 1));
      row.time = Seconds(times.measured);
      rows.push_back(row);
    }
  return rows;
}

std::vector<JobRanking> rankings(const std::vector<std::vector<Times>>& jobs) {
  const std::vector<MeasuredRow> rows = rows_of(jobs);
  std::vector<Prediction> predictions;
  std::size_t at = 0;
  for (const auto& job : jobs)
    for (const Times& times : job)
      predictions.push_back({&rows[at++], Seconds(times.predicted), {}, {}, {}});
  return rank_jobs(predictions);
}

} // namespace

TEST_CASE("Kendall's tau counts pairs, and the regret is what the pick costs") {
  const auto all = rankings(
      {{{1, 10}, {2, 20}, {3, 30}}, {{1, 30}, {2, 20}, {4, 10}}, {{5, 1}}, {{1, 2}, {3, 3}, {2, 1}}});
  REQUIRE(all.size() == 3); // one plan alone has no rank
  CHECK(all[0].kendall_tau == 1);
  CHECK(all[0].regret == 0);
  CHECK(all[1].kendall_tau == -1);
  CHECK(all[1].regret == 3);
  CHECK(all[1].picked == "1.5");
  CHECK(all[1].fastest == "1.3");
  CHECK(all[2].kendall_tau == close_to(1.0 / 3)); // 2 of 3 pairs agree
  CHECK(all[2].regret == 1);
}

TEST_CASE("equal times count for neither side") {
  const auto all = rankings({{{1, 1}, {1, 2}, {2, 2}}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].kendall_tau == close_to(1.0 / 3));
}

TEST_CASE("the plan picked for each measured multi-node job is within 5 % of the fastest measured") {
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  const std::vector<MeasuredRow> rows = shared_rows("vtrain_multi_calibration.csv", catalogue);
  for (const char* calibration : {"a100-megatron", "textbook"}) {
    Diagnostics diagnostics;
    const auto predictions = predict_rows(rows, calibration, catalogue, nullptr, diagnostics);
    for (const JobRanking& job : rank_jobs(predictions)) {
      CAPTURE(std::string(calibration));
      CAPTURE(job.job);
      CHECK(job.regret <= 0.05);
      CHECK(job.kendall_tau >= 0.55);
    }
  }
}
