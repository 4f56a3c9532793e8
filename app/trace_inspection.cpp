// SPDX-License-Identifier: MIT
#include "app/trace_inspection.hpp"

#include "app/number_text.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "common/csv.hpp"
#include "common/number.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;

std::string count_text(std::size_t count) {
  return grouped(static_cast<double>(count));
}

double share(double part, double whole) {
  return whole > 0.0 ? part / whole : 0.0;
}

std::string fact_line(std::string_view label, const std::string& text) {
  constexpr int kLabelColumns = 11;
  return labelled_line(label, text, kLabelColumns);
}

std::string rows_text(const TraceFunnel& funnel) {
  std::string out = fact_line(
      "rows", fmt::format("{} read, {} jobs", count_text(funnel.rows_read), count_text(funnel.kept)));
  for (const TraceFunnel::Step& step : funnel.dropped)
    out += fact_line("", fmt::format("{} dropped: {}", count_text(step.rows), step.reason));
  if (funnel.descents > 0)
    out += fact_line("", fmt::format("{} before the row above them in time (jobs are sorted)",
                                     count_text(funnel.descents)));
  return out;
}

std::string demand_text(const TraceInspection& inspection) {
  const TraceSummary& s = inspection.summary;
  std::string out =
      fact_line("GPU time", fmt::format("{} GPU-hours{}", grouped(std::round(s.gpu_hours)),
                                        s.jobs_without_duration == 0
                                            ? ""
                                            : fmt::format(" ({} jobs without a duration left out)",
                                                          count_text(s.jobs_without_duration))));
  std::string demand = fmt::format("{} GPUs on average", human_number(s.mean_gpus_demanded));
  if (s.last_submit == s.first_submit)
    demand = "all jobs are submitted at once";
  else if (inspection.load)
    demand += fmt::format("; offered load {:.3g} on {} GPUs", inspection.load->offered,
                          inspection.load->cluster.value());
  out += fact_line("demand", demand);
  if (inspection.load && inspection.load->wider_jobs > 0)
    out +=
        fact_line("", fmt::format("{} jobs ask for more than {} GPUs",
                                  count_text(inspection.load->wider_jobs), inspection.load->cluster.value()));
  return out;
}

std::string head_text(const TraceInspection& inspection) {
  const TraceFunnel& funnel = inspection.funnel;
  const TraceSummary& s = inspection.summary;
  std::string out = printable(funnel.file) + "\n";
  out += fact_line("format", funnel.format);
  out += fact_line("SHA-256", funnel.sha256);
  out += rows_text(funnel);
  if (s.jobs == 0)
    return out;
  out += fact_line("submitted",
                   fmt::format("within {} (clock {} to {} s)", human_seconds(s.last_submit - s.first_submit),
                               format_number(s.first_submit.base()), format_number(s.last_submit.base())));
  if (s.equal_submit_times > 0)
    out +=
        fact_line("", fmt::format("{} at the same time as the job before", count_text(s.equal_submit_times)));
  out += demand_text(inspection);
  std::string deadlines = "none";
  if (s.with_deadline > 0)
    deadlines =
        fmt::format("{} jobs ({}), {} cannot be met even on an empty cluster", count_text(s.with_deadline),
                    human_percent(share(static_cast<double>(s.with_deadline), static_cast<double>(s.jobs))),
                    count_text(s.infeasible_deadlines));
  out += fact_line("deadlines", deadlines);
  return out;
}

ResultTable quantile_table(const TraceSummary& summary) {
  std::vector<ResultTable::Column> columns = {{"what", " ", Style::text}};
  for (const char* name : {"p10", "p25", "p50", "p75", "p90", "p95", "p99", "max", "mean"})
    columns.push_back({name, name, Style::seconds});
  ResultTable table(std::move(columns));
  const auto add = [&](const char* what, const std::optional<Quantiles>& q) {
    if (q)
      table.add({what, q->p10, q->p25, q->p50, q->p75, q->p90, q->p95, q->p99, q->max, q->mean});
  };
  add("duration", summary.duration_s);
  add("gap between submits", summary.gap_s);
  return table;
}

ResultTable width_table(const TraceSummary& summary) {
  ResultTable table({{"gpus", "GPUs", Style::number},
                     {"jobs", "jobs", Style::number},
                     {"share_of_jobs", "of all jobs", Style::percent},
                     {"gpu_hours", "GPU-hours", Style::number},
                     {"share_of_gpu_time", "of GPU time", Style::percent}});
  for (const TraceSummary::WidthClass& width : summary.widths)
    table.add({static_cast<std::int64_t>(width.gpus.value()), static_cast<std::int64_t>(width.jobs),
               share(static_cast<double>(width.jobs), static_cast<double>(summary.jobs)), width.gpu_hours,
               share(width.gpu_hours, summary.gpu_hours)});
  return table;
}

std::string hours_text(const TraceSummary& summary) {
  constexpr std::size_t kLongestHour = 50;
  const std::size_t most = std::max<std::size_t>(1, *std::ranges::max_element(summary.by_hour));
  const std::size_t digits = count_text(most).size();
  std::string out;
  for (std::size_t hour = 0; hour < summary.by_hour.size(); ++hour) {
    const std::size_t jobs = summary.by_hour[hour];
    const std::size_t bar = (jobs * kLongestHour + most - 1) / most;
    fmt::format_to(std::back_inserter(out), "{:02}:00  {:>{}}{}{}\n", hour, count_text(jobs), digits,
                   bar > 0 ? "  " : "", std::string(bar, '#'));
  }
  return out;
}

std::string to_text(const TraceInspection& inspection) {
  const TraceSummary& summary = inspection.summary;
  std::string out = head_text(inspection);
  if (summary.jobs == 0)
    return out;
  out += "\n" + quantile_table(summary).to_text();
  out += "\n" + width_table(summary).to_text();
  out += "\nJobs submitted, by hour of the trace's clock\n" + hours_text(summary);
  return out;
}

Json quantiles_json(const std::optional<Quantiles>& q) {
  if (!q)
    return nullptr;
  return {{"p10", q->p10}, {"p25", q->p25}, {"p50", q->p50}, {"p75", q->p75},  {"p90", q->p90},
          {"p95", q->p95}, {"p99", q->p99}, {"max", q->max}, {"mean", q->mean}};
}

Json funnel_json(const TraceFunnel& funnel) {
  Json dropped = Json::object();
  for (const TraceFunnel::Step& step : funnel.dropped)
    dropped[step.reason] = step.rows;
  return {{"rows_read", funnel.rows_read},
          {"rows_kept", funnel.kept},
          {"rows_dropped", dropped},
          {"submit_time_descents", funnel.descents}};
}

Json load_json(const std::optional<TraceInspection::Load>& load) {
  if (!load)
    return nullptr;
  return {{"gpus", load->cluster.value()}, {"load", load->offered}, {"wider_jobs", load->wider_jobs}};
}

Json to_json_object(const TraceInspection& inspection) {
  const TraceSummary& s = inspection.summary;
  return {{"file", inspection.funnel.file},
          {"format", inspection.funnel.format},
          {"sha256", inspection.funnel.sha256},
          {"funnel", funnel_json(inspection.funnel)},
          {"jobs", s.jobs},
          {"first_submit_s", s.first_submit.base()},
          {"last_submit_s", s.last_submit.base()},
          {"equal_submit_times", s.equal_submit_times},
          {"gpu_hours", s.gpu_hours},
          {"jobs_without_duration", s.jobs_without_duration},
          {"mean_gpus_demanded", s.mean_gpus_demanded},
          {"offered_load", load_json(inspection.load)},
          {"with_deadline", s.with_deadline},
          {"infeasible_deadlines", s.infeasible_deadlines},
          {"duration_s", quantiles_json(s.duration_s)},
          {"gap_s", quantiles_json(s.gap_s)},
          {"widths", Json::parse(width_table(s).to_json())},
          {"by_hour", s.by_hour}};
}

/// The leaves of a JSON value as lines "a.b,value".
void append_figures(std::string& out, const std::string& path, const Json& json) {
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items())
      append_figures(out, path.empty() ? key : fmt::format("{}.{}", path, key), value);
    return;
  }
  append_csv_field(out, path);
  out += ',';
  if (json.is_number())
    append_number(out, json.get<double>());
  else if (json.is_string())
    append_csv_field(out, json.get_ref<const std::string&>());
  out += '\n';
}

} // namespace

TraceInspection inspect(const Workload& workload, std::optional<GpuCount> cluster_gpus) {
  TraceInspection out{workload.funnel, summarize(workload), std::nullopt};
  if (cluster_gpus) {
    const auto wider =
        std::ranges::count_if(workload.jobs, [&](const Job& job) { return job.gpus > *cluster_gpus; });
    out.load = {*cluster_gpus, out.summary.mean_gpus_demanded / cluster_gpus->value(),
                static_cast<std::size_t>(wider)};
  }
  return out;
}

std::string render(const TraceInspection& inspection, OutputFormat format) {
  if (format == OutputFormat::table)
    return to_text(inspection);
  const Json json = to_json_object(inspection);
  if (format == OutputFormat::json)
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string out = "figure,value\n";
  append_figures(out, "", json);
  return out;
}

} // namespace vtrain
