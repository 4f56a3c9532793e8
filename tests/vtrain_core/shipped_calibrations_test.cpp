// SPDX-License-Identifier: MIT
// The calibrations that ship against the rows that they name: neither the files nor the code may drift.
#include "tests/vtrain_core/measured_cases.hpp"
#include "vtrain_core/calibration/accuracy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// The rows that a calibration names, in its order; fewer if the table lacks one.
std::vector<const MeasuredRow*> named(const std::vector<MeasuredRow>& rows, const Calibration& calibration) {
  std::vector<const MeasuredRow*> out;
  for (const std::string& id : calibration.fit->row_ids)
    if (const auto at = std::ranges::find(rows, id, &MeasuredRow::id); at != rows.end())
      out.push_back(&*at);
  return out;
}

void check_refit(const Calibration& shipped, const Calibration& again) {
  CHECK(again.fit->rows_sha256 == shipped.fit->rows_sha256);
  CHECK(again.fit->row_ids == shipped.fit->row_ids);
  CHECK(again.gpus == shipped.gpus);
  CHECK(again.meaning == shipped.meaning);
  CHECK(again.precision == shipped.precision);
  CHECK(again.software_stack == shipped.software_stack);
  CHECK(again.fit->mape_percent == close_to(shipped.fit->mape_percent).epsilon(1e-3));
  CHECK(again.uncertainty.residual_log_sigma ==
        close_to(shipped.uncertainty.residual_log_sigma).epsilon(1e-3));
  for (std::size_t i = 0; i < kConstants; ++i) {
    const auto which = static_cast<Constant>(i);
    CAPTURE(constant_table()[i].name);
    CHECK(again.values[which] == close_to(shipped.values[which]).epsilon(1e-3));
    CHECK(again.uncertainty.log_sigma(which) == close_to(shipped.uncertainty.log_sigma(which)).epsilon(1e-2));
  }
}

} // namespace

TEST_CASE("fitting the rows that a shipped calibration names gives that calibration again") {
  struct Source {
    const char* calibration;
    const char* file;
  };
  constexpr std::array<Source, 7> kSources{{{"a100-megatron", "megatron_a100_published.csv"},
                                            {"a100-megatron-deepspeed", "vtrain_multi_calibration.csv"},
                                            {"a100-bf16-megatron-deepspeed", "bloom_tuning_calibration.csv"},
                                            {"a100-fsdp", "mpt_fsdp_calibration.csv"},
                                            {"h100-bf16-fsdp", "mpt_fsdp_calibration.csv"},
                                            {"h100-fp8-fsdp", "mpt_fsdp_calibration.csv"},
                                            {"h100-fp8-megatron", "h100_fp8_calibration.csv"}}};
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  CHECK(catalogue.calibrations().size() == kSources.size());
  for (const Source& source : kSources) {
    CAPTURE(source.calibration);
    const auto shipped =
        std::ranges::find(catalogue.calibrations(), std::string(source.calibration), &Calibration::name);
    REQUIRE(shipped != catalogue.calibrations().end());
    const std::vector<MeasuredRow> rows = shared_rows(source.file, catalogue);
    if (rows.empty())
      return;
    const std::vector<const MeasuredRow*> fitted = named(rows, *shipped);
    REQUIRE(fitted.size() == shipped->fit->row_ids.size());
    check_refit(*shipped, calibrate(fitted, shipped->name, catalogue, nullptr));
  }
}

TEST_CASE("the shared rows of each GPU, precision and stack are all in the calibration that ships for them") {
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  for (const char* file :
       {"megatron_a100_published.csv", "vtrain_multi_calibration.csv", "bloom_tuning_calibration.csv",
        "mpt_fsdp_calibration.csv", "h100_fp8_calibration.csv"})
    for (const MeasuredRow& row : shared_rows(file, catalogue)) {
      const ChosenCalibration chosen =
          catalogue.choose({row.node.gpu, row.plan.precision, row.software_stack});
      CAPTURE(row.id);
      CHECK(chosen.note.empty());
      CHECK(std::ranges::count(chosen.calibration.fit->row_ids, row.id) == 1);
      CHECK(chosen.calibration.fit->range.left_by(row.model, row.plan).empty());
    }
}
