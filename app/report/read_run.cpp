// SPDX-License-Identifier: MIT
// A finished run, read back from its folder: reports need no simulation.
#include "app/report/report.hpp"
#include "app/run_folder.hpp"
#include "common/csv.hpp"
#include "common/file.hpp"
#include "common/number.hpp"

#include <algorithm>

namespace vtrain {
namespace {

constexpr std::size_t kCdfPoints = 200;

std::size_t column_of(const CsvTable& table, std::string_view name) {
  const auto column = table.column(name);
  if (!column)
    throw InputError(table.header_location(), "the column '" + std::string(name) + "' is missing");
  return *column;
}

std::vector<double> completion_times(const CsvTable& jobs) {
  const std::size_t column = column_of(jobs, "jct_s");
  const std::size_t measured = column_of(jobs, "measured");
  std::vector<double> out;
  for (std::size_t row = 0; row < jobs.row_count(); ++row)
    if (const auto value = parse_number(jobs.field(row, column));
        value && jobs.field(row, measured) == "true")
      out.push_back(*value);
  return out;
}

/// The share of completed jobs with a JCT of at most x hours, at equally spaced ranks.
Series jct_cdf(std::vector<double> jct_s) {
  std::ranges::sort(jct_s);
  Series out;
  const auto jobs = static_cast<double>(jct_s.size());
  const std::size_t points = std::min(kCdfPoints, jct_s.size());
  for (std::size_t i = 1; i <= points; ++i) {
    const std::size_t rank = i * jct_s.size() / points;
    out.emplace_back(jct_s[rank - 1] / kHour.base(), 100.0 * static_cast<double>(rank) / jobs);
  }
  return out;
}

void read_timeline(const CsvTable& timeline, ReportRun& run) {
  const std::size_t time = column_of(timeline, "t_s");
  const std::size_t queued = column_of(timeline, "queued");
  const std::size_t busy = column_of(timeline, "gpus_busy");
  const double gpus = run.summary.cluster.gpus().value();
  std::optional<double> first;
  for (std::size_t row = 0; row < timeline.row_count(); ++row) {
    const double t = parse_number(timeline.field(row, time)).value_or(0.0);
    first = first.value_or(t);
    const double hour = (t - *first) / kHour.base();
    run.utilization.emplace_back(hour, 100.0 * parse_number(timeline.field(row, busy)).value_or(0.0) / gpus);
    run.queue.emplace_back(hour, parse_number(timeline.field(row, queued)).value_or(0.0));
  }
}

} // namespace

ReportRun report_run(Summary summary, const std::string& config, const std::string& timeline,
                     std::vector<double> jct_s) {
  ReportRun run;
  run.summary = std::move(summary);
  Diagnostics diagnostics;
  if (!config.empty())
    run.config = parse_yaml(config, "config.yaml", diagnostics);
  run.jct_cdf = jct_cdf(std::move(jct_s));
  // A workload in which nothing takes time has no bins.
  if (std::ranges::count(timeline, '\n') > 1)
    read_timeline(CsvTable::parse(timeline, "timeline.csv", diagnostics), run);
  diagnostics.throw_if_errors();
  return run;
}

ReportRun read_report_run(const std::filesystem::path& folder) {
  Summary summary = summary_from_json(read_file(folder / "summary.json"), (folder / "summary.json").string());
  const bool has_config = std::filesystem::exists(folder / "config.yaml");
  Diagnostics diagnostics;
  std::vector<double> jct_s = completion_times(read_jobs(folder, diagnostics));
  diagnostics.throw_if_errors();
  return report_run(std::move(summary), has_config ? read_file(folder / "config.yaml") : std::string(),
                    read_file(folder / "timeline.csv"), std::move(jct_s));
}

} // namespace vtrain
