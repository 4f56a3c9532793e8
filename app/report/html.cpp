// SPDX-License-Identifier: MIT
#include "app/build_info.hpp"
#include "app/number_text.hpp"
#include "app/report/html_style.hpp"
#include "app/report/markup.hpp"
#include "app/report/metric_text.hpp"
#include "app/report/report.hpp"
#include "app/report/setup_text.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace vtrain {
namespace {

using Runs = std::vector<ReportRun>;
constexpr std::size_t kMostLinesTogether = 4; ///< more lines of a noisy quantity hide each other
constexpr int kChartWidth = 912;              ///< as wide as the page's text
constexpr int kSmallChartWidth = 292;         ///< three side by side

std::string element(std::string_view tag, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>", tag, escape_markup(text));
}

/// At most `most` points: means of equally many neighbours.
Series thinned(const Series& series, std::size_t most) {
  const std::size_t group = (series.size() + most - 1) / most;
  if (group <= 1)
    return series;
  Series out;
  for (std::size_t begin = 0; begin < series.size(); begin += group) {
    const std::size_t count = std::min(group, series.size() - begin);
    double sum = 0.0;
    for (std::size_t i = begin; i < begin + count; ++i)
      sum += series[i].second;
    out.emplace_back(series[begin].first, sum / static_cast<double>(count));
  }
  return out;
}

/// "Lowest mean JCT: srtf with 4.2 h, 2.3 times lower than fifo with 9.7 h."
std::string headline(const Runs& runs) {
  const Summary* best = nullptr;
  const Summary* worst = nullptr;
  for (const ReportRun& run : runs) {
    const auto jct = run.summary.metric("jct_mean_s");
    if (!jct)
      continue;
    best = best == nullptr || *jct < *best->metric("jct_mean_s") ? &run.summary : best;
    worst = worst == nullptr || *jct > *worst->metric("jct_mean_s") ? &run.summary : worst;
  }
  if (best == nullptr || runs.size() < 2)
    return "";
  const double low = *best->metric("jct_mean_s");
  const double high = *worst->metric("jct_mean_s");
  if (low == high)
    return fmt::format("All policies have the same mean JCT: {}.", human_seconds(Seconds(low)));
  const std::string lowest = human_seconds(Seconds(low));
  const std::string highest = human_seconds(Seconds(high));
  if (lowest == highest)
    return fmt::format("All policies have about the same mean JCT: {}.", lowest);
  std::string out = fmt::format("{} has the lowest mean JCT: {}", best->policy, lowest);
  constexpr double kTimes = 2.0; // below, a percentage says more
  if (low > 0.0 && high >= kTimes * low)
    out += fmt::format(", {:.3g} times lower than {} with {}", high / low, worst->policy, highest);
  else
    out +=
        fmt::format(", {:.2g} % lower than {} with {}", 100.0 * (1.0 - low / high), worst->policy, highest);
  return out + ".";
}

/// The figures one looks at first, of a single run.
std::string tiles(const Summary& summary) {
  std::string out = "<div class=\"tiles\">\n";
  const auto tile = [&](std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "<div><b>{}</b>{}</div>\n", escape_markup(value),
                   element("span", label));
  };
  tile("jobs completed", fmt::format("{} of {}", grouped(static_cast<double>(summary.completed)),
                                     grouped(static_cast<double>(summary.submitted))));
  for (const std::string_view name :
       {"jct_mean_s", "jct_p99_s", "wait_mean_s", "makespan_s", "gpu_utilization"}) {
    const auto metric = std::ranges::find(metric_texts(), name, &MetricText::name);
    tile(metric->heading, metric_value(*metric, summary.metric(name)));
  }
  return out + "</div>\n";
}

std::string jct_bars(const Runs& runs) {
  BarChart chart;
  chart.title = "Mean job completion time";
  chart.width = kChartWidth;
  for (const ReportRun& run : runs) {
    const auto jct = run.summary.metric("jct_mean_s");
    chart.bars.push_back(
        {run.summary.policy, jct.value_or(0.0), jct ? human_seconds(Seconds(*jct)) : "no job completed"});
  }
  return "<figure>" + to_svg(chart) + "</figure>\n";
}

/// A quantity over time: one chart, or one small chart for each run with equal axes.
std::string over_time(const Runs& runs, Chart chart, Series ReportRun::*series) {
  constexpr std::size_t kPoints = 300;
  constexpr std::size_t kPointsOfSmall = 150;
  chart.x_in_hours = true;
  chart.width = kChartWidth;
  const bool together = runs.size() <= kMostLinesTogether;
  double highest = 0.0;
  double latest = 0.0;
  for (const ReportRun& run : runs) {
    chart.lines.emplace_back(run.summary.policy, thinned(run.*series, together ? kPoints : kPointsOfSmall));
    for (const auto& [x, y] : chart.lines.back().second) {
      highest = std::max(highest, y);
      latest = std::max(latest, x);
    }
  }
  if (together)
    return "<figure>" + to_svg(chart) + "</figure>\n";
  std::string out = fmt::format("<h3>{}</h3>\n<div class=\"small-charts\">\n", escape_markup(chart.title));
  const auto lines = std::move(chart.lines);
  chart.width = kSmallChartWidth;
  chart.height = 170;
  chart.x_max = latest;
  chart.x_label.clear();
  chart.y_label.clear();
  if (!chart.y_max && highest > 0.0)
    chart.y_max = highest;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    chart.title = lines[i].first;
    chart.lines = {lines[i]};
    chart.first_color = i;
    out += "<figure>" + to_svg(chart) + "</figure>\n";
  }
  return out + "</div>\n";
}

std::string charts(const Runs& runs) {
  Chart utilization;
  utilization.title = "Allocated GPUs over time";
  utilization.y_label = "% of the cluster's GPUs";
  utilization.x_label = "time since the first submit";
  utilization.y_max = 100.0;
  Chart queue;
  queue.title = "Waiting jobs over time";
  queue.y_label = "jobs that wait for GPUs";
  queue.x_label = "time since the first submit";
  return "<figure>" + to_svg(jct_chart(runs)) + "</figure>\n" +
         over_time(runs, std::move(utilization), &ReportRun::utilization) +
         over_time(runs, std::move(queue), &ReportRun::queue);
}

/// The best value of a metric where runs differ.
std::optional<double> best_value(const MetricText& metric, const Runs& runs) {
  std::vector<double> values;
  for (const ReportRun& run : runs)
    if (const auto value = run.summary.metric(metric.name))
      values.push_back(*value);
  if (metric.better == MetricText::Better::neither || values.size() < 2)
    return std::nullopt;
  const auto [low, high] = std::ranges::minmax(values);
  if (low == high)
    return std::nullopt;
  return metric.better == MetricText::Better::lower ? low : high;
}

/// A row of the table of `shown` runs, which are some of `all`.
std::string metric_row(const MetricText& metric, std::span<const ReportRun> shown, const Runs& all) {
  const std::string_view unit = metric_unit(metric);
  std::string row =
      fmt::format("<tr><th scope=\"row\" title=\"{}\">{}{}</th>", escape_markup(metric.definition),
                  escape_markup(metric.heading), unit.empty() ? "" : fmt::format(" ({})", unit));
  const std::optional<double> best = best_value(metric, all);
  for (const ReportRun& run : shown) {
    const std::optional<double> value = run.summary.metric(metric.name);
    const bool is_best = best && value && *value == *best;
    row += fmt::format("<td{}>{}</td>", is_best ? " class=\"best\"" : "", metric_number(metric, value));
  }
  return row + "</tr>\n";
}

std::string count_row(std::string_view heading, std::span<const ReportRun> shown,
                      std::size_t Summary::*count) {
  std::string row = "<tr><th scope=\"row\">" + escape_markup(heading) + "</th>";
  for (const ReportRun& run : shown)
    row += element("td", grouped(static_cast<double>(run.summary.*count)));
  return row + "</tr>\n";
}

std::string count_rows(std::span<const ReportRun> shown, const Runs& all) {
  std::string out = count_row("Jobs submitted", shown, &Summary::submitted);
  out += count_row("Jobs completed", shown, &Summary::completed);
  // The normal case has no such jobs; their absence needs no row.
  const auto add_if_any = [&](std::string_view heading, std::size_t Summary::*count) {
    if (std::ranges::any_of(all, [&](const ReportRun& run) { return run.summary.*count > 0; }))
      out += count_row(heading, shown, count);
  };
  add_if_any("Jobs rejected", &Summary::rejected);
  add_if_any("Jobs failed or cancelled", &Summary::failed);
  add_if_any("Jobs unfinished", &Summary::unfinished);
  add_if_any("Jobs left out of means (warm-up, window)", &Summary::trimmed);
  return out;
}

bool applies(const MetricText& metric, const Runs& runs) {
  return std::ranges::any_of(
      runs, [&](const ReportRun& run) { return run.summary.metric(metric.name).has_value(); });
}

std::string metric_table(std::span<const ReportRun> shown, const Runs& all) {
  std::string out = "<div class=\"scroll\"><table class=\"metrics\">\n<thead><tr><th></th>";
  for (const ReportRun& run : shown)
    out += "<th scope=\"col\">" + escape_markup(run.summary.policy) + "</th>";
  out += "</tr></thead>\n<tbody>\n" + count_rows(shown, all);
  for (const MetricText& metric : metric_texts())
    if (applies(metric, all))
      out += metric_row(metric, shown, all);
  return out + "</tbody></table></div>\n";
}

std::string metrics(const Runs& runs) {
  std::string out = "<h2>Metrics</h2>\n";
  // More columns than that are wider than the page.
  constexpr std::size_t kMostColumns = 8;
  const std::size_t tables = (runs.size() + kMostColumns - 1) / kMostColumns;
  const std::size_t columns = (runs.size() + tables - 1) / tables;
  for (std::size_t begin = 0; begin < runs.size(); begin += columns)
    out += metric_table(std::span(runs).subspan(begin, std::min(columns, runs.size() - begin)), runs);
  if (runs.size() > 1)
    out += "<p class=\"note\">Underlined: the best value of a row, where one can be called better.</p>\n";
  std::string absent;
  for (const MetricText& metric : metric_texts())
    if (!applies(metric, runs))
      absent += (absent.empty() ? "" : ", ") + std::string(metric.heading);
  if (!absent.empty())
    out += "<p class=\"note\">Does not apply here: " + escape_markup(absent) + ".</p>\n";
  return out;
}

std::string definitions() {
  std::string out = "<h2>What the metrics mean</h2>\n<dl>\n";
  for (const MetricText& metric : metric_texts())
    fmt::format_to(std::back_inserter(out), "<dt>{} <code>{}</code></dt><dd>{}</dd>\n",
                   escape_markup(metric.heading), metric.name, escape_markup(metric.definition));
  return out + "</dl>\n";
}

std::string setup(const Runs& runs) {
  std::string out = "<h2>What was simulated</h2>\n<div class=\"scroll\"><table class=\"setup\">\n";
  for (const SetupFact& fact : setup_facts(runs))
    fmt::format_to(std::back_inserter(out), "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                   escape_markup(fact.label), escape_markup(fact.text));
  return out + "</table></div>\n";
}

std::string again(const Runs& runs) {
  const std::string folder = runs.size() > 1 ? "its folder here, named after the policy" : "this folder";
  return "<h2>Run it again</h2>\n<p>The effective configuration of a run, with every default, is in "
         "<code>config.yaml</code> "
         "in " +
         folder +
         ":</p>\n<pre>vtrain simulate config.yaml -o again</pre>\n"
         "<p>The same configuration and trace give the same results, byte for byte.</p>\n";
}

} // namespace

Chart jct_chart(const std::vector<ReportRun>& runs) {
  Chart chart;
  chart.title = "Distribution of job completion times";
  chart.width = kChartWidth;
  chart.y_label = "% of completed jobs that took at most …";
  chart.log_x = true;
  chart.x_in_hours = true;
  chart.y_max = 100.0;
  for (const ReportRun& run : runs)
    chart.lines.emplace_back(run.summary.policy, run.jct_cdf);
  return chart;
}

std::string report_html(const std::string& title, const std::vector<ReportRun>& runs) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += element("title", title + " – vtrain") + "\n<style>\n" + std::string(kReportStyle) +
         "</style>\n</head>\n<body>\n<main>\n";
  out += "<header>\n" + element("h1", title) + "\n";
  if (runs.empty())
    return out + "</header>\n<p>No run has a result.</p>\n</main>\n</body>\n</html>\n";
  out += "<p class=\"subtitle\">" + escape_markup(subtitle(runs)) + "</p>\n</header>\n";
  if (const std::string text = headline(runs); !text.empty())
    out += "<p class=\"headline\">" + escape_markup(text) + "</p>\n" + jct_bars(runs);
  else
    out += tiles(runs.front().summary);
  out += charts(runs) + metrics(runs) + setup(runs) + again(runs) + definitions();
  out += "<footer>Written by vtrain " + escape_markup(version()) + "</footer>\n</main>\n</body>\n</html>\n";
  return out;
}

} // namespace vtrain
