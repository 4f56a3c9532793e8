// SPDX-License-Identifier: MIT
#include "cluster/summary.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {

/// Values of the measured jobs.
struct Samples {
  std::vector<double> jct, wait, slowdown, fairness;
  std::size_t deadlines_met = 0, deadlines = 0;
};

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty())
    return std::nullopt;
  double sum = 0.0;
  for (const double v : values)
    sum += v;
  return sum / static_cast<double>(values.size());
}

/// Nearest rank: the smallest value with at least `percent` % of the values at or below it. Reorders
/// `values`.
std::optional<double> percentile(std::vector<double>& values, double percent) {
  if (values.empty())
    return std::nullopt;
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(values.size()));
  const auto at = values.begin() + std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(rank) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::optional<double> ratio(double part, double whole) {
  return whole > 0.0 ? std::optional(part / whole) : std::nullopt;
}

void count(Summary& summary, const JobRun& run) {
  if (run.life.state() == JobState::future) {
    ++summary.not_submitted;
    return;
  }
  ++summary.submitted;
  switch (run.life.state()) {
  case JobState::completed: ++summary.completed; break;
  case JobState::rejected: ++summary.rejected; break;
  case JobState::failed:
  case JobState::cancelled: ++summary.failed; break;
  default: ++summary.unfinished; break;
  }
}

void sample(Samples& samples, const Job& job, const JobRun& run, double mean_present, GpuCount cluster) {
  if (const std::optional<bool> met = met_deadline(job, run)) {
    ++samples.deadlines;
    samples.deadlines_met += *met ? 1 : 0;
  }
  if (run.first_start)
    samples.wait.push_back((*run.first_start - job.submit).base());
  if (run.life.state() != JobState::completed)
    return;
  samples.jct.push_back((*run.end - job.submit).base());
  samples.slowdown.push_back(slowdown(job, run));
  samples.fairness.push_back(finish_time_fairness(job, run, mean_present, cluster));
}

Samples collect(Summary& summary, const Outcome& outcome, const Workload& workload, const Cluster& cluster,
                const MeasuredWindow& window) {
  Samples samples;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Job& job = workload.jobs[i];
    const JobRun& run = outcome.state->runs[i];
    count(summary, run);
    if (run.life.state() == JobState::future)
      continue;
    if (!window.contains(job.submit - outcome.first_submit))
      ++summary.trimmed;
    else
      sample(samples, job, run, outcome.mean_present[i], cluster.gpus());
  }
  return samples;
}

} // namespace

const std::vector<std::string_view>& metric_names() {
  static const std::vector<std::string_view> names = {"makespan_s",
                                                      "jct_mean_s",
                                                      "jct_p50_s",
                                                      "jct_p90_s",
                                                      "jct_p99_s",
                                                      "wait_mean_s",
                                                      "wait_p50_s",
                                                      "wait_p99_s",
                                                      "slowdown_mean",
                                                      "gpu_utilization",
                                                      "gpu_hours",
                                                      "goodput",
                                                      "deadline_met_ratio",
                                                      "preemptions",
                                                      "resizes",
                                                      "migrations",
                                                      "restarts",
                                                      "finish_time_fairness_mean",
                                                      "finish_time_fairness_max",
                                                      "fragmentation_mean",
                                                      "energy_kwh",
                                                      "cost_usd"};
  return names;
}

std::optional<double> Summary::metric(std::string_view metric_name) const {
  const auto it = std::ranges::find(metrics, metric_name, &Metric::name);
  VTRAIN_ASSERT(it != metrics.end(), "unknown metric " + std::string(metric_name));
  return it->value;
}

double slowdown(const Job& job, const JobRun& run) {
  return (run.end.value() - job.submit) / std::max(job.duration, kSlowdownBound);
}

double finish_time_fairness(const Job& job, const JobRun& run, double mean_present, GpuCount cluster) {
  const double share = static_cast<double>(cluster.value()) / std::max(1.0, mean_present);
  const Seconds alone = job.duration * std::max(1.0, static_cast<double>(job.gpus.value()) / share);
  const Seconds jct = run.end.value() - job.submit;
  return alone > Seconds(0) ? jct / alone : 1.0; // a job without work is served fairly whenever it ends
}

std::optional<bool> met_deadline(const Job& job, const JobRun& run) {
  if (!job.deadline)
    return std::nullopt;
  return run.life.state() == JobState::completed && *run.end <= *job.deadline;
}

void measure(Summary& summary, const Outcome& outcome, const Workload& workload, const Cluster& cluster,
             const MeasuredWindow& window) {
  Samples samples = collect(summary, outcome, workload, cluster, window);
  double allocated = 0.0, overhead = 0.0;
  std::uint64_t preemptions = 0, resizes = 0, migrations = 0, restarts = 0;
  for (const JobRun& run : outcome.state->runs) {
    allocated += run.gpu_seconds;
    overhead += run.overhead_gpu_seconds;
    preemptions += run.preemptions;
    resizes += run.resizes;
    migrations += run.migrations;
    restarts += run.restarts;
  }
  const double gpu_hours = allocated / kHour.base();
  // A run that was cut has no last end to measure from: it lasts until the cut.
  const Seconds last = summary.unfinished == 0 ? outcome.last_end : outcome.stopped;
  const Seconds makespan = last - outcome.first_submit;
  const double elapsed = (outcome.stopped - outcome.first_submit).base();
  const auto max_fairness = std::ranges::max_element(samples.fairness);
  const std::optional<UsdPerSecond> price = cluster.node.gpu_price;
  const Joules energy = cluster.node.gpu.tdp * Seconds(allocated);

  const std::vector<std::optional<double>> values = {
      makespan.base(),
      mean(samples.jct),
      percentile(samples.jct, 50),
      percentile(samples.jct, 90),
      percentile(samples.jct, 99),
      mean(samples.wait),
      percentile(samples.wait, 50),
      percentile(samples.wait, 99),
      mean(samples.slowdown),
      ratio(allocated, cluster.gpus().value() * makespan.base()),
      gpu_hours,
      ratio(allocated - overhead, allocated),
      ratio(static_cast<double>(samples.deadlines_met), static_cast<double>(samples.deadlines)),
      static_cast<double>(preemptions),
      static_cast<double>(resizes),
      static_cast<double>(migrations),
      static_cast<double>(restarts),
      mean(samples.fairness),
      max_fairness == samples.fairness.end() ? std::nullopt : std::optional(*max_fairness),
      outcome.state->pool.knows_nodes() ? ratio(outcome.fragmentation_integral, elapsed) : std::nullopt,
      energy.base() / 3.6e6,
      price ? std::optional((*price * Seconds(allocated)).base()) : std::nullopt};
  VTRAIN_ASSERT(values.size() == metric_names().size(), "a metric without a name");
  summary.metrics.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    summary.metrics.push_back({metric_names()[i], values[i]});
}

} // namespace vtrain
