// SPDX-License-Identifier: MIT
#include "app/report/metric_text.hpp"

#include "app/number_text.hpp"
#include "common/quantity_text.hpp"

#include <array>
#include <cmath>

namespace vtrain {
namespace {

using Unit = MetricText::Unit;
using Better = MetricText::Better;

constexpr std::array kMetrics = {
    MetricText{"makespan_s", "Makespan", "Last end of a job minus first submit.", Unit::seconds,
               Better::lower},
    MetricText{"jct_mean_s", "JCT, mean", "Job completion time: end minus submit, over completed jobs.",
               Unit::seconds, Better::lower},
    MetricText{"jct_p50_s", "JCT, median", "Half of the completed jobs took no longer from submit to end.",
               Unit::seconds, Better::lower},
    MetricText{"jct_p90_s", "JCT, 90th percentile",
               "90 % of the completed jobs took no longer from submit to end (nearest rank).", Unit::seconds,
               Better::lower},
    MetricText{"jct_p99_s", "JCT, 99th percentile",
               "99 % of the completed jobs took no longer from submit to end (nearest rank).", Unit::seconds,
               Better::lower},
    MetricText{"wait_mean_s", "Wait, mean", "First start minus submit, over jobs that started.",
               Unit::seconds, Better::lower},
    MetricText{"wait_p50_s", "Wait, median",
               "Half of the started jobs waited no longer for their first start.", Unit::seconds,
               Better::lower},
    MetricText{"wait_p99_s", "Wait, 99th percentile",
               "99 % of the started jobs waited no longer for their first start (nearest rank).",
               Unit::seconds, Better::lower},
    MetricText{
        "slowdown_mean", "Slowdown, mean",
        "JCT divided by the run time at the requested GPUs (taken as at least 10 s), over completed jobs.",
        Unit::number, Better::lower},
    MetricText{"gpu_utilization", "GPU utilisation",
               "Allocated GPU time divided by the cluster's GPUs times the makespan.", Unit::ratio,
               Better::higher},
    MetricText{"gpu_hours", "GPU time", "Allocated GPU time of all jobs.", Unit::gpu_hours, Better::neither},
    MetricText{"goodput", "Goodput",
               "Share of the allocated GPU time in which jobs made progress, switch costs left out.",
               Unit::ratio, Better::higher},
    MetricText{"deadline_met_ratio", "Deadlines met",
               "Jobs that completed by their deadline, of all jobs with a deadline.", Unit::ratio,
               Better::higher},
    MetricText{"preemptions", "Preemptions", "How often a job lost its GPUs by a decision of the policy.",
               Unit::count, Better::neither},
    MetricText{"resizes", "Resizes", "How often the number of GPUs of a job was changed.", Unit::count,
               Better::neither},
    MetricText{"migrations", "Migrations", "How often a job was moved to other GPUs.", Unit::count,
               Better::neither},
    MetricText{"restarts", "Restarts", "Starts of jobs after their first one.", Unit::count, Better::neither},
    MetricText{
        "finish_time_fairness_mean", "Finish-time fairness, mean",
        "JCT divided by the time on a 1/N share of the cluster, N being the mean number of jobs present "
        "meanwhile. Up to 1 a job did no worse than on its share.",
        Unit::number, Better::lower},
    MetricText{"finish_time_fairness_max", "Finish-time fairness, maximum",
               "The same of the job that fared worst.", Unit::number, Better::lower},
    MetricText{"fragmentation_mean", "Fragmentation, mean over time",
               "Share of the free GPUs that are not on wholly free nodes.", Unit::ratio, Better::lower},
    MetricText{"energy_kwh", "Energy", "Allocated GPU time at the GPUs' thermal design power.", Unit::kwh,
               Better::lower},
    MetricText{"cost_usd", "Cost", "Allocated GPU-hours at the cluster's price of a GPU-hour.", Unit::usd,
               Better::lower}};

} // namespace

std::span<const MetricText> metric_texts() {
  return kMetrics;
}

std::string metric_number(const MetricText& metric, std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return "–";
  switch (metric.unit) {
  case Unit::seconds: return human_seconds(Seconds(*value));
  case Unit::ratio: return human_percent(*value);
  case Unit::number: return *value >= 1000.0 ? grouped(*value) : human_number(*value);
  case Unit::count:
  case Unit::gpu_hours:
  case Unit::kwh:
  case Unit::usd: break;
  }
  // A total that rounds to nothing is shown with its digits.
  return *value > 0.0 && *value < 10.0 ? human_number(*value) : grouped(*value);
}

std::string_view metric_unit(const MetricText& metric) {
  switch (metric.unit) {
  case Unit::gpu_hours: return "GPU-hours";
  case Unit::kwh: return "kWh";
  case Unit::usd: return "USD";
  default: return "";
  }
}

std::string metric_value(const MetricText& metric, std::optional<double> value) {
  std::string text = metric_number(metric, value);
  if (const std::string_view unit = metric_unit(metric); value && !unit.empty())
    text.append(" ").append(unit);
  return text;
}

} // namespace vtrain
