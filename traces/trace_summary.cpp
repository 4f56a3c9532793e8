// SPDX-License-Identifier: MIT
#include "traces/trace_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace vtrain {
namespace {

/// The run time at the requested GPUs as far as anybody knows it: from the trace, or from its throughput.
std::optional<Seconds> duration_of(const Job& job) {
  if (job.recorded_duration)
    return job.recorded_duration;
  return job.work > 0.0 ? std::optional(job.duration) : std::nullopt;
}

constexpr double kSecondsPerHour = 3600.0;

std::size_t hour_of(Seconds clock) {
  const double hours = std::floor(clock.base() / kSecondsPerHour);
  return static_cast<std::size_t>(hours - 24.0 * std::floor(hours / 24.0));
}

} // namespace

std::optional<Quantiles> quantiles(std::vector<double> values) {
  if (values.empty())
    return std::nullopt;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  // Nearest rank: the smallest value with at least p percent of all values at or below it.
  const auto percentile = [&](std::size_t p) { return values[(p * n + 99) / 100 - 1]; };
  return Quantiles{.p10 = percentile(10),
                   .p25 = percentile(25),
                   .p50 = percentile(50),
                   .p75 = percentile(75),
                   .p90 = percentile(90),
                   .p95 = percentile(95),
                   .p99 = percentile(99),
                   .max = values.back(),
                   .mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n)};
}

TraceSummary summarize(const Workload& workload) {
  TraceSummary summary;
  const std::vector<Job>& jobs = workload.jobs;
  summary.jobs = jobs.size();
  if (jobs.empty())
    return summary;
  summary.first_submit = jobs.front().submit;
  summary.last_submit = jobs.back().submit;
  std::vector<double> durations;
  std::vector<double> gaps;
  std::map<GpuCount, TraceSummary::WidthClass> widths;
  double gpu_seconds = 0.0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    const std::optional<Seconds> duration = duration_of(job);
    TraceSummary::WidthClass& width = widths[job.gpus];
    ++width.jobs;
    if (duration) {
      const double demand = job.gpus.value() * duration->base();
      gpu_seconds += demand;
      width.gpu_hours += demand / kSecondsPerHour;
      durations.push_back(duration->base());
    } else {
      ++summary.jobs_without_duration;
    }
    if (i > 0) {
      gaps.push_back((job.submit - jobs[i - 1].submit).base());
      summary.equal_submit_times += gaps.back() == 0.0 ? 1 : 0;
    }
    if (job.deadline) {
      ++summary.with_deadline;
      summary.infeasible_deadlines += duration && *job.deadline < job.submit + *duration ? 1 : 0;
    }
    ++summary.by_hour[hour_of(job.submit)];
  }
  summary.gpu_hours = gpu_seconds / kSecondsPerHour;
  const Seconds span = summary.last_submit - summary.first_submit;
  if (span > Seconds(0.0))
    summary.mean_gpus_demanded = gpu_seconds / span.base();
  for (auto& [gpus, width] : widths) {
    width.gpus = gpus;
    summary.widths.push_back(width);
  }
  summary.duration_s = quantiles(std::move(durations));
  summary.gap_s = quantiles(std::move(gaps));
  return summary;
}

} // namespace vtrain
