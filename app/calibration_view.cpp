// SPDX-License-Identifier: MIT
#include "app/calibration_view.hpp"

#include "app/number_text.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;

constexpr double kZ90 = 1.6448536269514722; // normal distribution, two-sided 90 %

/// One row a constant. One that is not fitted has no interval.
ResultTable constant_table_of(const CalibrationReport& report) {
  ResultTable table({{"constant", "", Style::text},
                     {"value", "", Style::number},
                     {"low", "", Style::number},
                     {"high", "", Style::number},
                     {"prior", "", Style::number},
                     {"moved", "moved (widths)", Style::number},
                     {"unit", "", Style::text},
                     {"meaning", "", Style::text}});
  for (std::size_t i = 0; i < kConstants; ++i) {
    const ConstantInfo& info = constant_table()[i];
    const auto which = static_cast<Constant>(i);
    const double value = report.calibration.values[which];
    const double prior = report.prior[which];
    std::vector<ResultTable::Cell> row = {
        std::string(info.name), value, {}, {}, prior, {}, std::string(info.unit), std::string(info.meaning)};
    if (const double sigma = report.calibration.uncertainty.log_sigma(which); info.log_sigma > 0) {
      row[2] = std::max(info.low, value * std::exp(-kZ90 * sigma));
      row[3] = std::min(info.high, value * std::exp(kZ90 * sigma));
      row[5] = std::round(std::log(value / prior) / info.log_sigma * 100.0) / 100.0;
    }
    table.add(std::move(row));
  }
  return table;
}

/// The table without the columns that are too wide for people.
std::string constants_text(const CalibrationReport& report) {
  const ResultTable all = constant_table_of(report);
  constexpr std::size_t kShown = 7;
  ResultTable shown({all.columns().begin(), all.columns().begin() + kShown});
  for (const auto& row : all.rows())
    shown.add({row.begin(), row.begin() + kShown});
  return shown.to_text();
}

std::string to_text(const CalibrationReport& report) {
  constexpr double kPercent = 100.0;
  const Calibration& calibration = report.calibration;
  std::string out = fmt::format("{}: {}\n", printable(calibration.name), printable(calibration.meaning));
  out += labelled_line("rows", fmt::format("{}, {} skipped", report.rows, report.skipped));
  if (calibration.fit)
    out += labelled_line("error",
                         fmt::format("{} on these rows (MAPE), {} on rows held out ({})",
                                     human_percent(calibration.fit->mape_percent / kPercent),
                                     human_percent(report.held_out.mape_percent / kPercent), report.folds));
  out += labelled_line("spread", fmt::format("{} of a time is not explained",
                                             human_percent(calibration.uncertainty.residual_log_sigma)));
  out += labelled_line("written to", report.file);
  return out + "\n" + constants_text(report) +
         "\nlow and high: 90 %. A constant that rows say little about stays at its prior; one that moved by "
         "more "
         "than 2 widths\ncontradicts what is known of other clusters. Constants without bounds are not "
         "fitted.\n";
}

Json to_json_object(const CalibrationReport& report) {
  const Calibration& calibration = report.calibration;
  return {{"name", calibration.name},
          {"file", report.file},
          {"meaning", calibration.meaning},
          {"gpus", calibration.gpus},
          {"precision", to_string(calibration.precision)},
          {"software_stack", calibration.software_stack},
          {"rows", report.rows},
          {"skipped", report.skipped},
          {"rows_sha256", calibration.fit ? Json(calibration.fit->rows_sha256) : Json()},
          {"mape_percent", calibration.fit ? Json(calibration.fit->mape_percent) : Json()},
          {"held_out", report.folds},
          {"held_out_mape_percent", report.held_out.mape_percent},
          {"held_out_coverage_percent", report.held_out.coverage_percent},
          {"residual_log_sigma", calibration.uncertainty.residual_log_sigma},
          {"constants", Json::parse(constant_table_of(report).to_json())}};
}

} // namespace

std::string render(const CalibrationReport& report, OutputFormat format) {
  switch (format) {
  case OutputFormat::json:
    return to_json_object(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  case OutputFormat::csv: return constant_table_of(report).to_csv();
  case OutputFormat::table: break;
  }
  return to_text(report);
}

} // namespace vtrain
