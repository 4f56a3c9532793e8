// SPDX-License-Identifier: MIT
#include "app/prediction_view.hpp"

#include "app/number_text.hpp"
#include "app/text_width.hpp"
#include "vtrain_core/calibration/ranking.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;

constexpr std::size_t kWorst = 5;
constexpr double kPercent = 100.0;

double error_of(const Prediction& prediction) {
  return prediction.time / *prediction.row->time - 1.0;
}

ResultTable::Cell cell(const std::optional<Seconds>& time) {
  return time ? ResultTable::Cell(time->base()) : ResultTable::Cell();
}

/// The five predictions that are furthest off, the worst first.
std::vector<Prediction> worst_of(const std::vector<Prediction>& predictions) {
  std::vector<Prediction> sorted = predictions;
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [](const Prediction& p) { return std::abs(error_of(p)); });
  sorted.resize(std::min(sorted.size(), kWorst));
  return sorted;
}

/// Predictions by calibration, in order of first appearance.
std::vector<std::pair<std::string, std::vector<Prediction>>>
grouped_by_calibration(const AccuracyReport& report) {
  std::vector<std::pair<std::string, std::vector<Prediction>>> groups;
  if (!report.by_calibration)
    return groups;
  for (const Prediction& prediction : report.predictions) {
    auto at = std::ranges::find_if(groups, [&](const auto& g) { return g.first == prediction.calibration; });
    if (at == groups.end())
      at = groups.insert(groups.end(), {prediction.calibration, {}});
    at->second.push_back(prediction);
  }
  return groups;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json figures_json(const AccuracyFigures& figures) {
  return {{"rows", figures.rows},
          {"mape_percent", figures.mape_percent},
          {"median_ape_percent", figures.median_ape_percent},
          {"p90_ape_percent", figures.p90_ape_percent},
          {"max_ape_percent", figures.max_ape_percent},
          {"bias_percent", figures.bias_percent},
          {"r2", optional_json(figures.r2)},
          {"coverage_percent", figures.coverage_percent}};
}

Json worst_json(const std::vector<Prediction>& predictions) {
  Json worst = Json::array();
  for (const Prediction& p : worst_of(predictions))
    worst.push_back({{"id", p.row->id},
                     {"measured_s", p.row->time->base()},
                     {"predicted_s", p.time.base()},
                     {"error_percent", kPercent * error_of(p)}});
  return worst;
}

Json to_json_object(const AccuracyReport& report) {
  const AccuracyFigures figures = accuracy_figures(report.predictions);
  Json json = {{"rows", figures.rows}, {"skipped", report.skipped}};
  json.update(figures_json(figures));
  if (report.max_abs_ms) {
    json["coverage_percent"] = nullptr;
    json["max_abs_ms"] = *report.max_abs_ms;
  }
  json["calibration"] = report.calibration;
  json["calibration_notes"] = notes_of(report.predictions);
  json["by_calibration"] = Json::array();
  for (const auto& [name, predictions] : grouped_by_calibration(report)) {
    Json group = {{"calibration", name}};
    group.update(figures_json(accuracy_figures(predictions)));
    json["by_calibration"].push_back(std::move(group));
  }
  json["ranking"] = Json::array();
  for (const JobRanking& job : rank_jobs(report.predictions))
    json["ranking"].push_back({{"job", job.job},
                               {"plans", job.plans},
                               {"kendall_tau", job.kendall_tau},
                               {"picked", job.picked},
                               {"fastest", job.fastest},
                               {"regret_percent", kPercent * job.regret}});
  json["worst"] = worst_json(report.predictions);
  return json;
}

std::string percent(double value) {
  return human_percent(value / kPercent);
}

std::string figures_text(const AccuracyReport& report) {
  const AccuracyFigures figures = accuracy_figures(report.predictions);
  std::string out = report.title + "\n";
  out += labelled_line("rows", fmt::format("{}, {} skipped", figures.rows, report.skipped));
  if (report.max_abs_ms)
    out += labelled_line("difference", fmt::format("at most {} ms", human_number(*report.max_abs_ms)));
  else
    out += labelled_line("calibration", printable(report.calibration));
  out +=
      labelled_line("error", fmt::format("{} on average (MAPE), median {}, 9 of 10 within {}, at most {}",
                                         percent(figures.mape_percent), percent(figures.median_ape_percent),
                                         percent(figures.p90_ape_percent), percent(figures.max_ape_percent)));
  constexpr double kVisible = 0.005;
  const char* const direction = figures.bias_percent > kVisible    ? " (predictions are too long)"
                                : figures.bias_percent < -kVisible ? " (predictions are too short)"
                                                                   : "";
  out += labelled_line("bias", percent(figures.bias_percent) + direction);
  if (figures.r2)
    out += labelled_line("R2", fmt::format("{:.6f}", *figures.r2));
  if (!report.max_abs_ms)
    out += labelled_line("coverage",
                         percent(figures.coverage_percent) + " of the rows lie in their 90 % interval");
  return out;
}

std::string calibrations_text(const AccuracyReport& report) {
  ResultTable table({{"calibration", "", Style::text},
                     {"rows", "", Style::number},
                     {"mape", "MAPE", Style::percent},
                     {"bias", "", Style::percent},
                     {"coverage", "", Style::percent}});
  const auto groups = grouped_by_calibration(report);
  for (const auto& [name, predictions] : groups) {
    const AccuracyFigures figures = accuracy_figures(predictions);
    table.add({name, static_cast<std::int64_t>(figures.rows), figures.mape_percent / kPercent,
               figures.bias_percent / kPercent, figures.coverage_percent / kPercent});
  }
  return groups.size() < 2 ? "" : "\n" + table.to_text();
}

/// Whether one would have picked the right plan.
std::string ranking_text(const AccuracyReport& report) {
  constexpr std::size_t kFewest = 5; // plans of a job, below which ranks say little
  ResultTable table({{"job", "plans of a job, ranked", Style::text},
                     {"plans", "", Style::number},
                     {"kendall_tau", "Kendall's tau", Style::number},
                     {"regret", "pick slower than best", Style::percent}});
  std::size_t shown = 0;
  for (const JobRanking& job : rank_jobs(report.predictions))
    if (job.plans >= kFewest) {
      table.add({job.job, static_cast<std::int64_t>(job.plans), std::round(job.kendall_tau * 1e3) / 1e3,
                 job.regret});
      ++shown;
    }
  return shown == 0 ? "" : "\n" + table.to_text();
}

std::string worst_text(const AccuracyReport& report) {
  ResultTable table({{"id", "furthest off", Style::text},
                     {"measured_s", "measured s", Style::number},
                     {"predicted_s", "predicted s", Style::number},
                     {"error", "", Style::percent}});
  for (const Prediction& p : worst_of(report.predictions))
    table.add({p.row->id, p.row->time->base(), p.time.base(), error_of(p)});
  return "\n" + table.to_text();
}

std::string accuracy_csv(const Json& json) {
  std::vector<ResultTable::Column> columns;
  std::vector<ResultTable::Cell> cells;
  for (const auto& [key, value] : json.items()) {
    if (value.is_array())
      continue;
    columns.push_back({key, "", Style::number});
    if (value.is_string())
      cells.emplace_back(value.get<std::string>());
    else if (value.is_number())
      cells.emplace_back(value.get<double>());
    else
      cells.emplace_back();
  }
  ResultTable table(std::move(columns));
  table.add(std::move(cells));
  return table.to_csv();
}

std::string notes_text(std::span<const Prediction> predictions) {
  std::string out;
  for (const std::string& note : notes_of(predictions))
    out += (out.empty() ? "\nto know:  " : "          ") + wrapped(printable(note), kProseColumns, 10);
  return out;
}

} // namespace

std::vector<std::string> notes_of(std::span<const Prediction> predictions) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const Prediction& prediction : predictions) {
    if (prediction.note.empty())
      continue;
    const auto at = std::ranges::find(counts, prediction.note, &std::pair<std::string, std::size_t>::first);
    if (at == counts.end())
      counts.emplace_back(prediction.note, 1);
    else
      ++at->second;
  }
  std::vector<std::string> out;
  out.reserve(counts.size());
  for (const auto& [note, rows] : counts)
    out.push_back(fmt::format("{} ({} row{})", note, rows, rows == 1 ? "" : "s"));
  return out;
}

ResultTable prediction_table(std::span<const Prediction> predictions, OutputFormat format) {
  const bool for_people = format == OutputFormat::table;
  const bool measured =
      std::ranges::any_of(predictions, [](const Prediction& p) { return p.row->time.has_value(); });
  std::vector<ResultTable::Column> columns = {{"id", "", Style::text}};
  if (measured || !for_people)
    columns.push_back({"measured_s", "measured s", Style::number});
  columns.push_back({"predicted_s", "predicted s", Style::number});
  if (measured && for_people)
    columns.push_back({"error", "", Style::percent});
  columns.push_back({"low_s", "low s", Style::number});
  columns.push_back({"high_s", "high s", Style::number});
  columns.push_back({"calibration", "", Style::text});
  if (!for_people)
    columns.push_back({"note", "", Style::text});
  ResultTable table(std::move(columns));
  for (const Prediction& p : predictions) {
    std::vector<ResultTable::Cell> row = {p.row->id};
    if (measured || !for_people)
      row.push_back(cell(p.row->time));
    row.emplace_back(p.time.base());
    if (measured && for_people)
      row.push_back(p.row->time ? ResultTable::Cell(error_of(p)) : ResultTable::Cell());
    const bool has_interval = p.interval.high > Seconds{};
    row.push_back(has_interval ? cell(p.interval.low) : ResultTable::Cell());
    row.push_back(has_interval ? cell(p.interval.high) : ResultTable::Cell());
    row.emplace_back(p.calibration);
    if (!for_people)
      row.emplace_back(p.note);
    table.add(std::move(row));
  }
  return table;
}

std::string render_predictions(std::span<const Prediction> predictions, std::size_t skipped,
                               OutputFormat format) {
  const ResultTable table = prediction_table(predictions, format);
  if (format == OutputFormat::csv)
    return table.to_csv();
  if (format == OutputFormat::json)
    return Json({{"rows", Json::parse(table.to_json())}, {"skipped", skipped}}).dump(2) + "\n";
  return table.to_text() + (skipped == 0 ? "" : fmt::format("{} rows skipped\n", skipped)) +
         notes_text(predictions);
}

std::string render(const AccuracyReport& report, OutputFormat format) {
  if (format == OutputFormat::table)
    return figures_text(report) + calibrations_text(report) + ranking_text(report) + worst_text(report) +
           notes_text(report.predictions);
  const Json json = to_json_object(report);
  if (format == OutputFormat::csv)
    return accuracy_csv(json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace vtrain
