// SPDX-License-Identifier: MIT
#include "jobs/throughput_prediction.hpp"

#include "jobs/job_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace vtrain {
namespace {

/// Jobs that share a curve.
struct JobKind {
  std::set<std::int32_t> counts;
  PredictedCurve predicted;
  CurveId curve = kRecordedCurve;
};

class PredictionResolver {
public:
  PredictionResolver(Workload& workload, ThroughputPredictor& predictor, GpuCount cluster_gpus,
                     Diagnostics& diagnostics)
      : workload_(workload), predictor_(predictor), cluster_gpus_(cluster_gpus), diagnostics_(diagnostics) {}

  void run() {
    collect();
    for (auto& [key, kind] : kinds_)
      predict(key, kind);
    for (Job& job : workload_.jobs)
      resolve(job);
    if (raised_ > 0)
      diagnostics_.warning(
          {.file = workload_.funnel.file, .line = first_raised_, .column = 0},
          fmt::format("{} jobs ask for fewer GPUs than their model needs and get the smallest "
                      "number on which it fits; this is the first",
                      raised_));
  }

private:
  using Key = std::pair<Symbol, std::int32_t>; // model, global batch

  static Key key_of(const Job& job) { return {job.model, job.global_batch}; }
  static bool is_described(const Job& job) { return job.model != Symbol(0) && job.global_batch > 0; }

  void collect() {
    for (Job& job : workload_.jobs) {
      if (give_up_if_too_wide(job, cluster_gpus_))
        continue;
      if (!is_described(job)) {
        diagnostics_.error(place_of(workload_, job),
                           fmt::format("job '{}' has no {}", workload_.strings.text(job.name),
                                       job.model == Symbol(0) ? "model" : "global batch"),
                           "speeds are predicted from the columns model and global_batch");
        continue;
      }
      std::set<std::int32_t>& counts = kinds_[key_of(job)].counts;
      for (const GpuCount count : {job.gpus, job.min_gpus, job.max_gpus})
        counts.insert(count.value());
      for (std::int64_t count = 1; count < job.max_gpus.value(); count *= 2)
        if (count > job.min_gpus.value())
          counts.insert(static_cast<std::int32_t>(count));
    }
  }

  void predict(const Key& key, JobKind& kind) {
    std::vector<GpuCount> counts;
    for (const std::int32_t count : kind.counts)
      counts.emplace_back(count);
    kind.predicted = predictor_.predict(workload_.strings.text(key.first), key.second, counts);
    std::vector<ThroughputLevel> levels;
    for (const PredictedLevel& predicted : kind.predicted.levels) {
      const JobSpeed speed{predicted.rate, workload_.strings.intern(predicted.plan)};
      if (levels.empty() || levels.back().gpus != predicted.gpus)
        levels.push_back({predicted.gpus, speed, {}});
      else
        levels.back().spread.push_back({predicted.gpus_per_node, speed});
    }
    if (levels.empty())
      return;
    workload_.curves.emplace_back(std::move(levels));
    kind.curve = CurveId(static_cast<std::uint32_t>(workload_.curves.size() - 1));
  }

  void resolve(Job& job) {
    if (!is_described(job) || job.gpus > cluster_gpus_)
      return;
    const JobKind& kind = kinds_.at(key_of(job));
    if (kind.curve == kRecordedCurve || !narrow(job, workload_.curves[kind.curve.value()])) {
      refuse(job, kind.predicted);
      return;
    }
    job.curve = kind.curve;
    set_work(workload_, job, "the prediction", diagnostics_);
  }

  /// Moves the job's counts to those that have a speed; false if there is none for it.
  bool narrow(Job& job, const ThroughputCurve& curve) {
    std::vector<GpuCount> counts; // ascending
    for (const ThroughputLevel& level : curve.levels())
      if (is_own(job, level.gpus))
        counts.push_back(level.gpus);
    const auto request = std::ranges::lower_bound(counts, job.gpus);
    if (request == counts.end())
      return false;
    if (*request != job.gpus && raised_++ == 0)
      first_raised_ = job.line;
    job.gpus = *request;
    job.min_gpus = counts.front();
    job.max_gpus = counts.back();
    return true;
  }

  /// Whether the job itself asks for the count: what other jobs ask for changes nothing for it.
  static bool is_own(const Job& job, GpuCount count) {
    const bool is_power = std::has_single_bit(static_cast<std::uint32_t>(count.value()));
    return count == job.gpus || count == job.min_gpus || count == job.max_gpus ||
           (is_power && count > job.min_gpus && count < job.max_gpus);
  }

  void refuse(const Job& job, const PredictedCurve& predicted) {
    const std::string_view name = workload_.strings.text(job.name);
    const std::string_view model = workload_.strings.text(job.model);
    if (!predicted.problem.empty())
      diagnostics_.error(place_of(workload_, job), fmt::format("job '{}': {}", name, predicted.problem),
                         predicted.hint);
    else
      diagnostics_.error(
          place_of(workload_, job),
          fmt::format(
              "job '{}' cannot train {} with global batch {} on {}{} GPUs: no parallel plan is possible "
              "and fits in memory",
              name, model, job.global_batch,
              job.max_gpus == job.gpus ? "" : fmt::format("{} to ", job.gpus.value()), job.max_gpus.value()),
          predicted.smallest ? fmt::format("the smallest number of GPUs is {}", predicted.smallest->value())
                             : std::string("it fits on no number of GPUs of this cluster"));
  }

  Workload& workload_;
  ThroughputPredictor& predictor_;
  GpuCount cluster_gpus_;
  Diagnostics& diagnostics_;
  std::map<Key, JobKind> kinds_;
  std::size_t raised_ = 0;
  std::uint32_t first_raised_ = 0;
};

} // namespace

void resolve_throughput_from_predictor(Workload& workload, ThroughputPredictor& predictor,
                                       Diagnostics& diagnostics, GpuCount cluster_gpus) {
  PredictionResolver(workload, predictor, cluster_gpus, diagnostics).run();
}

} // namespace vtrain
