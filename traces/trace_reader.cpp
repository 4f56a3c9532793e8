// SPDX-License-Identifier: MIT
#include "traces/trace_reader.hpp"

#include "common/csv.hpp"
#include "traces/dialect.hpp"
#include "traces/job_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace vtrain {
namespace {

/// Sorts by submit time, ties in file order. Indices are sorted, not jobs, which are large.
void sort_by_submit(std::vector<Job>& jobs) {
  if (std::ranges::is_sorted(jobs, {}, &Job::submit))
    return;
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return jobs[i].submit; });
  std::vector<Job> sorted;
  sorted.reserve(jobs.size());
  for (const std::uint32_t i : order)
    sorted.push_back(jobs[i]);
  jobs = std::move(sorted);
}

/// A misspelt optional column would be lost without a word otherwise.
void warn_of_unused_columns(const CsvTable& table, const Dialect& dialect, const FieldColumns& columns,
                            Diagnostics& diagnostics) {
  std::string unused;
  std::size_t first = table.columns().size();
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (std::ranges::find(columns, std::optional(column)) != columns.end())
      continue;
    first = std::min(first, column);
    unused += (unused.empty() ? "" : ", ") + table.columns()[column];
  }
  if (!unused.empty())
    diagnostics.warning(table.header_location(first),
                        fmt::format("columns that format {} does not use: {}", dialect.name, unused));
}

} // namespace

Workload read_trace(const TraceOptions& options, Diagnostics& diagnostics) {
  Workload workload;
  TraceFunnel& funnel = workload.funnel;
  funnel.file = options.file.string();
  const CsvTable table = CsvTable::read(options.file, diagnostics);
  funnel.sha256 = table.digest();
  funnel.rows_read = table.rows_read();
  const Dialect* dialect = choose_dialect(options.format, table, diagnostics);
  if (dialect == nullptr)
    return workload;
  funnel.format = dialect->name;
  const FieldColumns columns = find_columns(*dialect, table, diagnostics);
  if (!missing_columns(*dialect, table).empty())
    return workload;
  warn_of_unused_columns(table, *dialect, columns, diagnostics);
  JobRows(table, *dialect, columns, options.zero_gpu == ZeroGpuRows::drop, workload, diagnostics).read();
  sort_by_submit(workload.jobs);
  return workload;
}

void apply_oversize(Workload& workload, GpuCount cluster_gpus, OversizeJobs option,
                    Diagnostics& diagnostics) {
  const auto is_oversize = [&](const Job& job) { return job.gpus > cluster_gpus; };
  TraceFunnel& funnel = workload.funnel;
  funnel.oversize = static_cast<std::size_t>(std::ranges::count_if(workload.jobs, is_oversize));
  if (funnel.oversize == 0 || option == OversizeJobs::reject)
    return;
  if (option == OversizeJobs::drop) {
    std::erase_if(workload.jobs, is_oversize);
    funnel.drop("asks for more GPUs than the cluster has", funnel.oversize);
    funnel.kept = workload.jobs.size();
    return;
  }
  for (Job& job : workload.jobs) {
    if (!is_oversize(job))
      continue;
    if (option == OversizeJobs::clamp) {
      job.gpus = cluster_gpus;
      job.min_gpus = std::min(job.min_gpus, cluster_gpus);
      job.max_gpus = cluster_gpus;
      continue;
    }
    diagnostics.error({.file = funnel.file, .line = job.line, .column = 0},
                      fmt::format("job '{}' asks for {} GPUs and the cluster has {}",
                                  workload.strings.text(job.name), job.gpus.value(), cluster_gpus.value()),
                      "oversize: drop, reject or clamp lets the rest run");
  }
}

} // namespace vtrain
