// SPDX-License-Identifier: MIT
#include "app/plan_report.hpp"

#include "app/estimate_view.hpp"
#include "app/memory_advice.hpp"
#include "app/number_text.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "common/quantity_text.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;
using Cell = ResultTable::Cell;

double days(const TrainingRun& run) {
  return run.wall / kDay;
}

Cell cost_cell(const PlanRow& row) {
  const std::optional<double> cost = row.run ? row.run->cost_usd : row.iteration_cost_usd;
  return cost ? Cell(*cost) : Cell();
}

/// The plans as people compare them.
std::string table_of(const std::vector<PlanRow>& rows, bool has_run) {
  std::vector<ResultTable::Column> columns{
      {"rank", "", Style::number},     {"plan", "", Style::text},
      {"gpus", "GPUs", Style::number}, {"iteration_time_s", "iteration s", Style::number},
      {"mfu", "MFU", Style::percent},  {"memory_gib", "GiB a GPU", Style::number}};
  if (has_run)
    columns.push_back({"days", "days", Style::number});
  columns.push_back({"cost_usd", has_run ? "cost" : "an iteration", Style::usd});
  ResultTable table(columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JobEstimate& estimate = rows[i].estimate;
    std::vector<Cell> cells{
        static_cast<std::int64_t>(i + 1), describe(estimate.job.plan),
        estimate.iteration.gpus,          estimate.iteration.time.base(),
        estimate.iteration.mfu,           rounded(estimate.memory.peak.base() / kGiB, 0.1)};
    if (has_run)
      cells.emplace_back(rounded(days(*rows[i].run), 0.01));
    cells.push_back(cost_cell(rows[i]));
    table.add(std::move(cells));
  }
  return table.to_text();
}

std::string head_text(const PlanReport& report) {
  const PlanRequest& request = report.request;
  const JobDescription& job = request.job;
  const bool exact = !request.space.gpu_counts.empty();
  std::string out =
      fmt::format("{} on {}{} {} of {}, global batch {}", printable(job.model.name), exact ? "" : "at most ",
                  request.space.most_gpus, job.node.gpu.name, printable(job.platform), job.plan.global_batch);
  if (request.iterations)
    out += fmt::format(", {} iterations", grouped(static_cast<double>(*request.iterations)));
  out += fmt::format(
      "\n{} possible plans, {} fit in memory, {} estimated (the bounds spoke for the others)\n",
      grouped(static_cast<double>(report.searched)), grouped(static_cast<double>(report.feasible)),
      grouped(static_cast<double>(report.evaluated)));
  if (request.reliability && !report.best.empty() && report.best.front().run) {
    const TrainingRun& run = *report.best.front().run;
    out += fmt::format(
        "a node fails every {}; the best plan writes a checkpoint every {} of work, and {} of its "
        "time is work\n",
        human_seconds(request.reliability->node_mtbf), human_seconds(*run.checkpoint_interval),
        human_percent(run.useful_share));
  }
  return out;
}

/// Where the given plan's time goes, beside the best one's.
std::string comparison_text(const PlanReport& report) {
  const JobEstimate& given = report.given->estimate;
  const JobEstimate& best = report.best.front().estimate;
  ResultTable table({{"part", "s of an iteration", Style::text},
                     {"given", printable(report.request.given_file), Style::number},
                     {"best", "best plan", Style::number},
                     {"difference", "", Style::number}});
  const auto add = [&](const char* name, double a, double b) {
    table.add({name, rounded(a, 1e-4), rounded(b, 1e-4), rounded(a - b, 1e-4)});
  };
  const auto first = breakdown_parts(given.iteration.breakdown);
  const auto second = breakdown_parts(best.iteration.breakdown);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].second > Seconds{} || second[i].second > Seconds{})
      add(first[i].first, first[i].second.base(), second[i].second.base());
  add("all", given.iteration.time.base(), best.iteration.time.base());
  std::string out = fmt::format(
      "the plan of {} ({}, {} GPUs) takes {:.1f} % {} than the best and {}\n",
      printable(report.request.given_file), describe(given.job.plan), given.iteration.gpus,
      100.0 * std::abs(given.iteration.time / best.iteration.time - 1.0),
      given.iteration.time < best.iteration.time ? "less" : "more",
      given.memory.fits() ? fmt::format("fits ({})", gibibytes(given.memory.peak))
                          : fmt::format("does not fit in memory: {} of {}", gibibytes(given.memory.peak),
                                        gibibytes(given.memory.capacity)));
  return out + "\n" + table.to_text();
}

/// The frontier, or as many of it as there are best plans, evenly.
std::string frontier_text(const PlanReport& report) {
  const std::vector<PlanRow>& all = report.frontier;
  const std::size_t shown = std::min(all.size(), std::max<std::size_t>(report.request.top, 2));
  std::vector<PlanRow> rows;
  for (std::size_t i = 0; i < shown; ++i)
    rows.push_back(all[i * (all.size() - 1) / (shown - 1)]);
  std::string out = "\nfrom fastest to cheapest: no other plan is faster and cheaper than one of these";
  if (shown < all.size())
    out += fmt::format(" ({} of {})", shown, all.size());
  return out + "\n" + table_of(rows, report.request.iterations.has_value());
}

std::string report_text(const PlanReport& report) {
  const bool has_run = report.request.iterations.has_value();
  std::string out = head_text(report);
  out += fmt::format("\nbest by {}\n", report.request.objective == PlanObjective::cost ? "cost" : "time");
  out += table_of(report.best, has_run);
  if (report.frontier.size() > 1)
    out += frontier_text(report);
  if (report.given)
    out += "\n" + comparison_text(report);
  const JobEstimate& best = report.best.front().estimate;
  out += fmt::format("\nthe best plan's iteration takes between {} and {} s with 90 %, by calibration {}\n",
                     human_number(best.interval.low.base()), human_number(best.interval.high.base()),
                     printable(best.calibration));
  for (const std::string& note : best.notes)
    out += wrapped("to know: " + printable(note), kProseColumns, 9);
  return out;
}

Json row_json(const PlanRow& row) {
  const JobEstimate& estimate = row.estimate;
  const ParallelPlan& plan = estimate.job.plan;
  Json json = {{"tp", plan.tensor},
               {"pp", plan.pipeline},
               {"dp", plan.data},
               {"cp", plan.context},
               {"ep", plan.expert},
               {"micro_batch", plan.micro_batch},
               {"virtual_stages", plan.virtual_stages},
               {"sequence_parallel", plan.sequence_parallel},
               {"recompute", to_string(plan.recompute)},
               {"zero", plan.zero},
               {"gpus", estimate.iteration.gpus},
               {"iteration_time_s", estimate.iteration.time.base()},
               {"interval_s", Json::array({estimate.interval.low.base(), estimate.interval.high.base()})},
               {"mfu", estimate.iteration.mfu},
               {"tokens_per_s", estimate.iteration.tokens_per_s},
               {"memory_bytes_per_gpu", std::ceil(estimate.memory.peak.base())},
               {"memory_fits", estimate.memory.fits()},
               {"days", nullptr},
               {"cost_usd", nullptr},
               {"iteration_cost_usd", nullptr}};
  if (row.iteration_cost_usd)
    json["iteration_cost_usd"] = *row.iteration_cost_usd;
  if (row.run) {
    json["days"] = days(*row.run);
    if (row.run->cost_usd)
      json["cost_usd"] = *row.run->cost_usd;
    if (row.run->checkpoint_interval) {
      json["checkpoint_interval_s"] = row.run->checkpoint_interval->base();
      json["useful_share"] = row.run->useful_share;
    }
  }
  return json;
}

Json rows_json(const std::vector<PlanRow>& rows) {
  Json out = Json::array();
  for (const PlanRow& row : rows)
    out.push_back(row_json(row));
  return out;
}

std::string report_json(const PlanReport& report) {
  const PlanRequest& request = report.request;
  const JobEstimate& best = report.best.front().estimate;
  Json json = {{"searched", report.searched},
               {"feasible", report.feasible},
               {"evaluated", report.evaluated},
               {"model", request.job.model.name},
               {"platform", request.job.platform},
               {"gpu", request.job.node.gpu.name},
               {"software_stack", request.job.stack.name},
               {"calibration", best.calibration},
               {"calibration_notes", best.notes},
               {"objective", request.objective == PlanObjective::cost ? "cost" : "time"},
               {"global_batch", request.job.plan.global_batch},
               {"iterations", request.iterations ? Json(*request.iterations) : Json()},
               {"gpu_hour_usd", request.job.node.gpu_price
                                    ? Json(request.job.node.gpu_price->base() * kHour.base())
                                    : Json()},
               {"plans", rows_json(report.best)},
               {"frontier", rows_json(report.frontier)}};
  if (report.given)
    json["given"] = row_json(*report.given);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Cell cell_of(const Json& value) {
  if (value.is_null())
    return {};
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number_integer())
    return value.get<std::int64_t>();
  if (value.is_number())
    return value.get<double>();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string report_csv(const PlanReport& report) {
  const Json rows = rows_json(report.best);
  std::vector<ResultTable::Column> columns;
  for (const auto& [key, value] : rows.front().items())
    columns.push_back({key, "", {}});
  ResultTable table(columns);
  for (const Json& row : rows) {
    std::vector<Cell> cells;
    for (const auto& [key, value] : row.items())
      cells.push_back(cell_of(value));
    table.add(std::move(cells));
  }
  return table.to_csv();
}

} // namespace

std::string render(const PlanReport& report, OutputFormat format) {
  switch (format) {
  case OutputFormat::json: return report_json(report);
  case OutputFormat::csv: return report_csv(report);
  case OutputFormat::table: break;
  }
  return report_text(report);
}

} // namespace vtrain
