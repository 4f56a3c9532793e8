// SPDX-License-Identifier: MIT
// The figures of a run; docs/metrics.md defines them for users.
#pragma once

#include "cluster/simulation.hpp"
#include "common/config.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The jobs that enter means and percentiles: those submitted in [first submit + begin, first submit + end).
struct MeasuredWindow {
  Seconds begin{0.0};         ///< the later of `warmup` and the window's begin
  std::optional<Seconds> end; ///< none: open
  [[nodiscard]] bool contains(Seconds since_first_submit) const {
    return since_first_submit >= begin && (!end || since_first_submit < *end);
  }
};

/// One metric by its name in summary.json; none where it does not apply.
struct Metric {
  std::string_view name;
  std::optional<double> value;
};

struct Summary {
  std::string name, policy, placement, information;
  ConfigNode options; ///< the policy's effective options, a map
  std::uint64_t seed = 1;
  Cluster cluster;
  TraceFunnel funnel;

  std::size_t submitted = 0, completed = 0, rejected = 0, failed = 0, unfinished = 0;
  std::size_t not_submitted = 0; ///< jobs of the trace that a cut run never came to; they count nowhere else
  std::size_t trimmed = 0;       ///< jobs left out of means by warm-up and window
  std::vector<Metric> metrics;   ///< in the order of `metric_names`

  /// The value of a metric; none when it does not apply. The name must exist.
  [[nodiscard]] std::optional<double> metric(std::string_view metric_name) const;
};

/// Names of all metrics, in order.
[[nodiscard]] const std::vector<std::string_view>& metric_names();

/// The shortest duration that a slowdown is measured against.
inline constexpr Seconds kSlowdownBound{10.0};

/// jct / max(duration at the requested GPUs, 10 s) of a completed job.
[[nodiscard]] double slowdown(const Job& job, const JobRun& run);
/// jct / time on a 1/N share of the cluster, N = `mean_present`. On a share of C/N GPUs a job that asks for g
/// of them needs duration x max(1, g N / C): less than its gang slows it in proportion, more does not speed
/// it up.
[[nodiscard]] double finish_time_fairness(const Job& job, const JobRun& run, double mean_present,
                                          GpuCount cluster);
/// Whether a job met its deadline: none without one.
[[nodiscard]] std::optional<bool> met_deadline(const Job& job, const JobRun& run);

/// Fills the counts and metrics of `summary` from an outcome.
void measure(Summary& summary, const Outcome& outcome, const Workload& workload, const Cluster& cluster,
             const MeasuredWindow& window);

/// summary.json: other programs rely on its names and their order; the same bytes for the same summary.
[[nodiscard]] std::string to_json(const Summary& summary);
/// Reads what to_json wrote; of the cluster only name, size and GPU name. `file` names it in messages; throws
/// InputError.
[[nodiscard]] Summary summary_from_json(std::string_view text, const std::string& file);

} // namespace vtrain
