// SPDX-License-Identifier: MIT
#include "app/case_study.hpp"

#include "app/job_description.hpp"
#include "app/job_flags.hpp"
#include "common/config.hpp"
#include "common/parallel.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <fmt/format.h>

namespace vtrain {
namespace {

ConfigNode text_at(const std::string& value, const std::string& where) {
  ConfigNode node = ConfigNode::text(value);
  node.where = {where, 0, 0};
  return node;
}

/// No shape is trained in time: says what the budget lacks.
void refuse_without_answer(const ComputeOptimalReport& report) {
  const ComputeOptimal& answer = report.answer;
  if (answer.best)
    return;
  const std::string budget =
      fmt::format("{} {} for {:g} days", report.budget.gpus, report.gpu, report.budget.time / kDay);
  if (!answer.naive)
    throw InputError(
        {"--days", 0, 0}, fmt::format("no shape of the catalogue is trained by {}", budget),
        fmt::format("even at full utilisation it is enough for {:.3g} parameters", answer.naive_parameters));
  const ComputeOptimalCandidate& smallest = answer.candidates.back();
  if (!smallest.plan)
    throw InputError({"--gpus", 0, 0}, fmt::format("no shape of the catalogue fits in memory on {}", budget),
                     "take more GPUs, or GPUs with more memory");
  throw InputError(
      {"--days", 0, 0}, fmt::format("no shape of the catalogue is trained in time by {}", budget),
      fmt::format("the smallest, {}, takes {:.3g} days", smallest.model.name, smallest.wall / kDay));
}

} // namespace

std::unique_ptr<JobEstimator> study_estimator(const StudySetting& setting,
                                              const CalibrationCatalogue& catalogue,
                                              Diagnostics& diagnostics) {
  ConfigNode root = ConfigNode::map();
  root.set("model", text_at(setting.model, "--model"));
  root.set("platform", text_at(setting.platform, "--platform"));
  if (setting.stack)
    root.set("stack", text_at(*setting.stack, "--stack"));
  if (setting.calibration)
    root.set("calibration", text_at(*setting.calibration, "--calibration"));
  ConfigNode plan = ConfigNode::map();
  for (const auto& [key, value] : setting.plan)
    plan.set(key, text_at(value, flag_of(key)));
  root.set("plan", std::move(plan));
  return std::make_unique<JobEstimator>(read_job_tree(root, {}, catalogue, diagnostics), catalogue,
                                        diagnostics);
}

ComputeOptimalReport compute_optimal_report(const StudySetting& setting, std::int64_t gpus, double days,
                                            std::optional<std::int64_t> global_batch,
                                            const CalibrationCatalogue& catalogue, Diagnostics& diagnostics) {
  constexpr double kMostDays = 36500;
  constexpr std::int64_t kMostGpus = 1'000'000;
  if (gpus < 1 || gpus > kMostGpus)
    diagnostics.error({"--gpus", 0, 0},
                      fmt::format("the number of GPUs must be between 1 and {}, not {}", kMostGpus, gpus));
  if (!(days > 0) || days > kMostDays)
    diagnostics.error({"--days", 0, 0},
                      fmt::format("the days must be more than 0 and at most {}, not {}", kMostDays, days));
  if (global_batch && *global_batch < 1)
    diagnostics.error({"--global-batch", 0, 0},
                      fmt::format("the global batch must be at least 1, not {}", *global_batch));
  const auto estimator = study_estimator(setting, catalogue, diagnostics);
  const JobDescription& job = estimator->job();
  if (job.gpus && gpus > *job.gpus)
    diagnostics.error({"--gpus", 0, 0}, fmt::format("{} has {} GPUs, not {}", job.platform, *job.gpus, gpus));
  diagnostics.throw_if_errors();
  ComputeOptimalReport out;
  out.platform = job.platform;
  out.gpu = job.node.gpu.name;
  out.calibration = estimator->calibration();
  out.note = estimator->calibration_note();
  out.budget.gpus = gpus;
  out.budget.time = kDay * days;
  out.budget.global_batch = global_batch.value_or(0);
  out.budget.base = job.plan;
  out.budget.threads = usual_threads();
  const ModelCatalogue models = ModelCatalogue::builtin();
  out.answer = compute_optimal(models.models(), estimator->pricing(), out.budget);
  refuse_without_answer(out);
  return out;
}

} // namespace vtrain
