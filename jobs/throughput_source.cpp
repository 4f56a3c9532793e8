// SPDX-License-Identifier: MIT
#include "jobs/throughput_source.hpp"

#include "common/letter_case.hpp"
#include "common/suggest.hpp"
#include "jobs/job_work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace vtrain {
namespace {

/// The curves of a profile on one GPU model, found by a job's model and batch.
class CurveTable {
public:
  CurveTable(Workload& workload, const ThroughputProfile& profile, const std::vector<std::string>& gpu_names,
             Diagnostics& diagnostics)
      : workload_(workload), profile_(profile), diagnostics_(diagnostics) {
    std::set<std::string> accepted;
    for (const std::string& name : gpu_names)
      accepted.insert(lower_case(name));
    for (const ProfileRow& row : profile.rows)
      if (row.gpu.empty() || accepted.contains(lower_case(row.gpu)))
        add(row);
    count_single_scattered();
  }

  [[nodiscard]] bool empty() const { return levels_.empty(); }

  /// The curve of the job's model at its batch, else of the model at any batch. None when the table has
  /// neither, after saying what it has.
  std::optional<CurveId> curve_of(const Job& job) {
    const std::uint64_t key =
        std::uint64_t{job.model.value()} << 32 | static_cast<std::uint32_t>(job.global_batch);
    const auto known = known_.find(key);
    const std::optional<CurveId> curve = known != known_.end() ? known->second : make_curve(job);
    known_.emplace(key, curve);
    if (!curve)
      report_unknown(job);
    return curve;
  }

private:
  struct Level {
    const ProfileRow* consolidated = nullptr;
    const ProfileRow* scattered = nullptr;
  };
  using Batches = std::map<std::int32_t, std::map<std::int32_t, Level>>; // batch -> GPUs -> rows

  void add(const ProfileRow& row) {
    Level& level = levels_[row.model][row.global_batch][row.gpus.value()];
    const ProfileRow*& known = row.scattered ? level.scattered : level.consolidated;
    if (known == nullptr)
      known = &row;
    else
      diagnostics_.error({.file = profile_.file, .line = row.line, .column = 0},
                         fmt::format("'{}' and '{}' of line {} name the same GPU and give two rates for it",
                                     row.gpu, known->gpu, known->line));
  }

  /// Says how many scattered rows stand alone: a gang can be consolidated wherever it can be scattered.
  void count_single_scattered() {
    std::size_t alone = 0;
    for (auto& [model, batches] : levels_)
      for (auto& [batch, levels] : batches)
        alone +=
            std::erase_if(levels, [](const auto& level) { return level.second.consolidated == nullptr; });
    if (alone > 0)
      diagnostics_.warning(
          {.file = profile_.file, .line = 0, .column = 0},
          fmt::format("{} rows for scattered GPUs have no consolidated partner and are not used", alone));
  }

  std::optional<CurveId> make_curve(const Job& job) {
    const auto model = levels_.find(workload_.strings.text(job.model));
    if (job.model == Symbol(0) || model == levels_.end())
      return std::nullopt;
    auto batch = model->second.find(job.global_batch);
    if (batch == model->second.end())
      batch = model->second.find(0);
    if (batch == model->second.end())
      return std::nullopt;
    std::vector<ThroughputLevel> levels;
    for (const auto& [gpus, rows] : batch->second) {
      ThroughputLevel level{GpuCount(gpus), {rows.consolidated->rate}, {}};
      if (rows.scattered != nullptr)
        level.spread.push_back({1, {rows.scattered->rate}});
      levels.push_back(std::move(level));
    }
    workload_.curves.emplace_back(std::move(levels));
    return CurveId(static_cast<std::uint32_t>(workload_.curves.size() - 1));
  }

  void report_unknown(const Job& job) {
    const std::string_view name = workload_.strings.text(job.name);
    const std::string model(workload_.strings.text(job.model));
    const auto known = levels_.find(model);
    if (model.empty()) {
      diagnostics_.error(place_of(workload_, job), fmt::format("job '{}' has no model", name),
                         fmt::format("{} gives speeds by model", profile_.file));
    } else if (known == levels_.end()) {
      std::vector<std::string> models;
      for (const auto& [candidate, batches] : levels_)
        models.push_back(candidate);
      diagnostics_.error(
          place_of(workload_, job),
          fmt::format("{} has no model '{}', which job '{}' trains", profile_.file, model, name),
          suggest(model, models));
    } else {
      std::vector<std::int32_t> batches;
      for (const auto& [batch, levels] : known->second)
        batches.push_back(batch);
      const std::string asked = job.global_batch == 0 ? "without a global batch"
                                                      : fmt::format("with global batch {}", job.global_batch);
      diagnostics_.error(
          place_of(workload_, job),
          fmt::format("job '{}' trains '{}' {}, which {} lacks", name, model, asked, profile_.file),
          fmt::format("it has global batch {}", fmt::join(batches, ", ")));
    }
  }

  Workload& workload_;
  const ThroughputProfile& profile_;
  Diagnostics& diagnostics_;
  std::map<std::string, Batches, std::less<>> levels_; ///< by model
  std::unordered_map<std::uint64_t, std::optional<CurveId>> known_;
};

/// The table has no row at all for this GPU: one error instead of one for each job.
void report_unknown_gpu(const ThroughputProfile& profile, const std::vector<std::string>& gpu_names,
                        Diagnostics& diagnostics) {
  std::vector<std::string> gpus;
  for (const ProfileRow& row : profile.rows)
    if (std::ranges::find(gpus, row.gpu) == gpus.end())
      gpus.push_back(row.gpu);
  diagnostics.error({.file = profile.file, .line = 0, .column = 0},
                    fmt::format("the profile has no rates for the cluster's GPU, {}",
                                gpu_names.empty() ? std::string("which has no name") : gpu_names.front()),
                    fmt::format("it has rates for {}", gpus.empty()
                                                           ? std::string("none")
                                                           : fmt::format("{}", fmt::join(gpus, ", "))));
}

} // namespace

void resolve_throughput_from_trace(Workload& workload, Diagnostics& diagnostics) {
  for (Job& job : workload.jobs) {
    if (!job.recorded_duration) {
      diagnostics.error(place_of(workload, job),
                        fmt::format("job '{}' has no recorded duration", workload.strings.text(job.name)),
                        "give a profile (throughput: {profile: FILE}), which turns iterations into time");
      continue;
    }
    job.curve = kRecordedCurve;
    job.duration = *job.recorded_duration;
    job.work = job.duration.base();
  }
}

void resolve_throughput_from_profile(Workload& workload, const ThroughputProfile& profile,
                                     const std::vector<std::string>& gpu_names, Diagnostics& diagnostics,
                                     GpuCount cluster_gpus) {
  CurveTable table(workload, profile, gpu_names, diagnostics);
  if (table.empty()) {
    report_unknown_gpu(profile, gpu_names, diagnostics);
    return;
  }
  for (Job& job : workload.jobs) {
    if (give_up_if_too_wide(job, cluster_gpus))
      continue;
    const std::optional<CurveId> curve = table.curve_of(job);
    if (!curve)
      continue;
    job.curve = *curve;
    set_work(workload, job, profile.file, diagnostics);
  }
}

} // namespace vtrain
