// SPDX-License-Identifier: MIT
#include "app/results_view.hpp"

#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <array>

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

} // namespace

std::string summary_text(const Summary& s) {
  const auto percent = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value * 100.0) : std::string("-");
  };
  std::string out = fmt::format("{}: {} on {} ({} GPUs), placement {}\n", s.name, s.policy, s.cluster.name,
                                s.cluster.gpus().value(), s.placement);
  out += line("jobs", fmt::format("{} submitted, {} completed, {} rejected, {} failed, {} unfinished",
                                  s.submitted, s.completed, s.rejected, s.failed, s.unfinished));
  if (s.trimmed > 0)
    out += line("", fmt::format("{} outside the measured window, left out of means", s.trimmed));
  out += line("JCT", fmt::format("mean {}, p50 {}, p90 {}, p99 {}", duration(s.metric("jct_mean_s")),
                                 duration(s.metric("jct_p50_s")), duration(s.metric("jct_p90_s")),
                                 duration(s.metric("jct_p99_s"))));
  out += line("waiting", fmt::format("mean {}, p50 {}, p99 {}", duration(s.metric("wait_mean_s")),
                                     duration(s.metric("wait_p50_s")), duration(s.metric("wait_p99_s"))));
  out += line("makespan", duration(s.metric("makespan_s")));
  out += line("GPUs",
              fmt::format("{} allocated, {:.0f} GPU-hours, goodput {}", percent(s.metric("gpu_utilization")),
                          s.metric("gpu_hours").value_or(0.0), percent(s.metric("goodput"))));
  if (s.metric("deadline_met_ratio"))
    out += line("deadlines met", percent(s.metric("deadline_met_ratio")));
  out += line("preemptions", fmt::format("{:.0f}", s.metric("preemptions").value_or(0.0)));
  if (s.metric("cost_usd"))
    out += line("cost", fmt::format("{:.0f} USD", *s.metric("cost_usd")));
  return out;
}

ResultTable metric_table(const Summary& summary) {
  ResultTable table({Column{"metric", "", Style::text}, Column{"value", "", Style::number}});
  for (const Metric& metric : summary.metrics)
    table.add({std::string(metric.name), cell(metric.value)});
  return table;
}

ResultTable comparison_table(const std::vector<Summary>& runs) {
  static const std::array<Column, 12> columns = {
      Column{"jct_mean_s", "mean JCT", Style::seconds},
      Column{"jct_p50_s", "p50 JCT", Style::seconds},
      Column{"jct_p99_s", "p99 JCT", Style::seconds},
      Column{"wait_mean_s", "mean wait", Style::seconds},
      Column{"makespan_s", "makespan", Style::seconds},
      Column{"gpu_utilization", "GPUs used", Style::percent},
      Column{"slowdown_mean", "slowdown", Style::number},
      Column{"finish_time_fairness_max", "worst rho", Style::number},
      Column{"deadline_met_ratio", "deadlines", Style::percent},
      Column{"preemptions", "preempt.", Style::number},
      Column{"goodput", "goodput", Style::percent},
      Column{"cost_usd", "cost", Style::usd}};
  std::vector<Column> all = {{"policy", "policy", Style::text}, {"completed", "done", Style::number}};
  all.insert(all.end(), columns.begin(), columns.end());
  ResultTable table(std::move(all));
  for (const Summary& run : runs) {
    std::vector<ResultTable::Cell> row = {run.policy, static_cast<std::int64_t>(run.completed)};
    for (const Column& column : columns)
      row.push_back(cell(run.metric(column.name)));
    table.add(std::move(row));
  }
  return table;
}

} // namespace vtrain
