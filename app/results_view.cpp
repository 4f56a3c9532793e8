// SPDX-License-Identifier: MIT
#include "app/results_view.hpp"

#include "app/number_text.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace vtrain {
namespace {

using Column = ResultTable::Column;
using Style = ResultTable::Column::Style;

ResultTable::Cell cell(const std::optional<double>& value) {
  return value ? ResultTable::Cell(*value) : ResultTable::Cell();
}

std::string duration(const std::optional<double>& seconds) {
  return seconds ? human_seconds(Seconds(*seconds)) : "-";
}

std::string line(std::string_view label, const std::string& text) {
  return fmt::format("  {:<14}{}\n", label, text);
}

/// The counts of jobs, by their name in summary.json.
struct CountColumn {
  std::string_view name;
  std::size_t Summary::*count;
};
constexpr std::array<CountColumn, 7> kCounts = {{{"submitted", &Summary::submitted},
                                                 {"completed", &Summary::completed},
                                                 {"rejected", &Summary::rejected},
                                                 {"failed", &Summary::failed},
                                                 {"unfinished", &Summary::unfinished},
                                                 {"trimmed", &Summary::trimmed},
                                                 {"not_submitted", &Summary::not_submitted}}};

} // namespace

std::string summary_text(const Summary& s) {
  const auto percent = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value * 100.0) : std::string("-");
  };
  std::string out = fmt::format("{}: {} on {} ({} GPUs), placement {}\n", s.name, s.policy, s.cluster.name,
                                s.cluster.gpus().value(), s.placement);
  out += line("jobs", fmt::format("{} submitted, {} completed, {} rejected, {} failed, {} unfinished",
                                  s.submitted, s.completed, s.rejected, s.failed, s.unfinished));
  if (s.not_submitted > 0)
    out += line("", fmt::format("{} more were not submitted before the run was cut", s.not_submitted));
  if (s.trimmed > 0)
    out += line("", fmt::format("{} outside the measured window, left out of means", s.trimmed));
  out += line("JCT", fmt::format("mean {}, p50 {}, p90 {}, p99 {}", duration(s.metric("jct_mean_s")),
                                 duration(s.metric("jct_p50_s")), duration(s.metric("jct_p90_s")),
                                 duration(s.metric("jct_p99_s"))));
  out += line("first wait", fmt::format("mean {}, p50 {}, p99 {}", duration(s.metric("wait_mean_s")),
                                        duration(s.metric("wait_p50_s")), duration(s.metric("wait_p99_s"))));
  out += line("makespan", duration(s.metric("makespan_s")));
  out += line("GPUs",
              fmt::format("{} allocated, {} GPU-hours, goodput {}", percent(s.metric("gpu_utilization")),
                          human_number(s.metric("gpu_hours").value_or(0.0)), percent(s.metric("goodput"))));
  if (s.metric("deadline_met_ratio"))
    out += line("deadlines met", percent(s.metric("deadline_met_ratio")));
  out += line("preemptions", fmt::format("{:.0f}", s.metric("preemptions").value_or(0.0)));
  if (s.metric("cost_usd"))
    out += line("cost", human_usd(*s.metric("cost_usd")));
  return out;
}

ResultTable run_rows(const std::vector<Summary>& runs) {
  std::vector<Column> columns = {{"name", "", Style::text},      {"policy", "", Style::text},
                                 {"placement", "", Style::text}, {"cluster", "", Style::text},
                                 {"gpus", "", Style::number},    {"seed", "", Style::number}};
  for (const CountColumn& count : kCounts)
    columns.push_back({std::string(count.name), "", Style::number});
  for (const std::string_view metric : metric_names())
    columns.push_back({std::string(metric), "", Style::number});
  ResultTable table(std::move(columns));
  for (const Summary& run : runs) {
    std::vector<ResultTable::Cell> row = {run.name,
                                          run.policy,
                                          run.placement,
                                          run.cluster.name,
                                          static_cast<std::int64_t>(run.cluster.gpus().value()),
                                          static_cast<std::int64_t>(run.seed)};
    for (const CountColumn& count : kCounts)
      row.emplace_back(static_cast<std::int64_t>(run.*count.count));
    for (const Metric& metric : run.metrics)
      row.push_back(cell(metric.value));
    table.add(std::move(row));
  }
  return table;
}

ResultTable comparison_table(const std::vector<Summary>& runs) {
  static const std::array<Column, 12> candidates = {
      Column{"jct_mean_s", "mean JCT", Style::seconds},
      Column{"jct_p50_s", "p50 JCT", Style::seconds},
      Column{"jct_p99_s", "p99 JCT", Style::seconds},
      Column{"wait_mean_s", "mean wait", Style::seconds},
      Column{"makespan_s", "makespan", Style::seconds},
      Column{"gpu_utilization", "GPU util.", Style::percent},
      Column{"slowdown_mean", "slowdown", Style::number},
      Column{"finish_time_fairness_max", "max rho", Style::number},
      Column{"deadline_met_ratio", "deadlines", Style::percent},
      Column{"preemptions", "preempt.", Style::number},
      Column{"goodput", "goodput", Style::percent},
      Column{"cost_usd", "cost", Style::usd}};
  // A metric that no run has, such as deadlines in a trace without any, needs no column.
  std::vector<Column> columns;
  std::ranges::copy_if(candidates, std::back_inserter(columns), [&](const Column& column) {
    return std::ranges::any_of(runs, [&](const Summary& run) { return run.metric(column.name).has_value(); });
  });
  const bool all_done =
      std::ranges::all_of(runs, [](const Summary& run) { return run.completed == run.submitted; });
  std::vector<Column> all = {{"policy", "policy", Style::text}};
  if (!all_done)
    all.push_back({"completed", "done", Style::number});
  all.insert(all.end(), columns.begin(), columns.end());
  ResultTable table(std::move(all));
  for (const Summary& run : runs) {
    std::vector<ResultTable::Cell> row = {run.policy};
    if (!all_done)
      row.emplace_back(static_cast<std::int64_t>(run.completed));
    for (const Column& column : columns)
      row.push_back(cell(run.metric(column.name)));
    table.add(std::move(row));
  }
  return table;
}

} // namespace vtrain
