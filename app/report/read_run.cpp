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

/// The share of completed jobs with a JCT of at most x hours, at equally spaced ranks.
Series jct_cdf(const CsvTable& jobs) {
  const std::size_t column = column_of(jobs, "jct_s");
  std::vector<double> hours;
  for (std::size_t row = 0; row < jobs.row_count(); ++row)
    if (const auto value = parse_number(jobs.field(row, column)))
      hours.push_back(*value / kHour.base());
  std::ranges::sort(hours);
  Series out;
  const std::size_t points = std::min(kCdfPoints, hours.size());
  for (std::size_t i = 1; i <= points; ++i) {
    const std::size_t rank = i * hours.size() / points;
    out.emplace_back(hours[rank - 1], 100.0 * static_cast<double>(rank) / static_cast<double>(hours.size()));
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

ReportRun read_report_run(const std::filesystem::path& folder) {
  ReportRun run;
  run.summary = summary_from_json(read_file(folder / "summary.json"), (folder / "summary.json").string());
  Diagnostics diagnostics;
  if (std::filesystem::exists(folder / "config.yaml"))
    run.config = read_yaml(folder / "config.yaml", diagnostics);
  run.jct_cdf = jct_cdf(read_jobs(folder, diagnostics));
  // A workload in which nothing takes time has no bins.
  const std::string timeline = read_file(folder / "timeline.csv");
  if (std::ranges::count(timeline, '\n') > 1)
    read_timeline(CsvTable::parse(timeline, (folder / "timeline.csv").string(), diagnostics), run);
  diagnostics.throw_if_errors();
  return run;
}

} // namespace vtrain
