// SPDX-License-Identifier: MIT
#include "traces/llm_mix.hpp"

#include "common/assert.hpp"
#include "common/random.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace vtrain {
namespace {

constexpr double kRoughFlops = 312e12 * 0.55; // of a GPU
constexpr double kMixTruncation = 2.3;        // draws further out in standard deviations are cut

/// What jobs of one purpose have in common.
struct Purpose {
  const char* tenant;
  double share;
  double median_s; ///< of the rough duration, lognormal
  double sigma;
  int priority;
};
enum PurposeIndex : std::size_t { pretrain, continued, finetune };
constexpr std::array<Purpose, 3> kPurposes{{
    {"pretrain", 0.20, 14400, 1.1, 2},
    {"continued", 0.25, 5400, 1.0, 1},
    {"finetune", 0.55, 1200, 1.0, 0},
}};

/// A kind of job: what is trained, on how many GPUs it is started. Widths are those with which 80 GB GPUs
/// hold the model comfortably; batches are those of the models' papers, smaller in fine-tuning.
struct Recipe {
  PurposeIndex purpose;
  const char* model;
  std::int32_t global_batch;
  std::int32_t gpus; ///< or twice as many, every other time
  double weight;     ///< among the recipes of its purpose
};
constexpr std::array<Recipe, 13> kRecipes{{
    {pretrain, "megatron-1.7b", 512, 16, 4},
    {pretrain, "megatron-3.6b", 512, 32, 3},
    {pretrain, "gpt3-6.7b", 1024, 32, 3},
    {pretrain, "megatron-18.4b", 1024, 64, 2},
    {pretrain, "megatron-39.1b", 1536, 128, 1},
    {pretrain, "gpt3-175b", 1536, 256, 0.5},
    {continued, "llama2-7b", 512, 16, 4},
    {continued, "llama2-13b", 512, 32, 3},
    {continued, "llama2-70b", 512, 64, 1},
    {finetune, "megatron-1.7b", 64, 4, 3},
    {finetune, "llama2-7b", 128, 8, 5},
    {finetune, "llama2-13b", 128, 8, 3},
    {finetune, "llama2-70b", 128, 32, 1},
}};

struct MixJob {
  const Recipe* recipe = nullptr;
  std::int32_t gpus = 1;
  std::int64_t iterations = 1;
  double duration_s = 0; ///< by the rough speed
  double submit_s = 0;
};

/// Rough time of one iteration on one GPU, by recipe.
std::vector<double> iteration_gpu_seconds() {
  const ModelCatalogue models = ModelCatalogue::builtin();
  std::vector<double> out;
  for (const Recipe& recipe : kRecipes) {
    const ModelShape* const model = models.find(recipe.model);
    VTRAIN_ASSERT(model != nullptr, "a recipe trains a model of the catalogue");
    const double tokens =
        static_cast<double>(recipe.global_batch) * static_cast<double>(model->sequence_length);
    out.push_back(6.0 * total_parameters(*model) * tokens / kRoughFlops);
  }
  return out;
}

/// The recipes that fit on the cluster, with the share of all jobs that each has.
std::vector<double> weights_on(GpuCount cluster) {
  std::vector<double> out(kRecipes.size());
  for (std::size_t purpose = 0; purpose < kPurposes.size(); ++purpose) {
    double sum = 0;
    for (const Recipe& recipe : kRecipes)
      if (recipe.purpose == purpose && recipe.gpus <= cluster.value())
        sum += recipe.weight;
    for (std::size_t i = 0; i < kRecipes.size(); ++i)
      if (kRecipes[i].purpose == purpose && kRecipes[i].gpus <= cluster.value())
        out[i] = kPurposes[purpose].share * kRecipes[i].weight / sum;
  }
  return out;
}

std::vector<MixJob> draw_mix(const GeneratorOptions& options, const RandomStreams& streams) {
  const std::vector<double> rough = iteration_gpu_seconds();
  const std::vector<double> weights = weights_on(options.cluster_gpus);
  if (std::ranges::none_of(weights, [](double weight) { return weight > 0; }))
    throw InputError({"--gpus", 0, 0},
                     fmt::format("{} GPUs are too few for a mix of LLM jobs", options.cluster_gpus.value()),
                     "the smallest job takes 4");
  RandomStream recipes = streams.stream("mix recipes");
  RandomStream widths = streams.stream("mix widths");
  RandomStream durations = streams.stream("mix durations");
  std::vector<MixJob> jobs(options.jobs);
  for (MixJob& job : jobs) {
    const std::size_t index = recipes.weighted(weights);
    job.recipe = &kRecipes[index];
    job.gpus = job.recipe->gpus;
    if (widths.below(2) == 1 && 2 * job.gpus <= options.cluster_gpus.value())
      job.gpus *= 2;
    const Purpose& purpose = kPurposes[job.recipe->purpose];
    const double deviation = std::clamp(durations.normal(), -kMixTruncation, kMixTruncation);
    const double wanted_s = purpose.median_s * std::exp(purpose.sigma * deviation);
    const double iteration_s = rough[index] / job.gpus;
    job.iterations = std::max<std::int64_t>(1, std::llround(wanted_s / iteration_s));
    job.duration_s = static_cast<double>(job.iterations) * iteration_s;
  }
  return jobs;
}

/// Poisson arrivals, scaled so that the work offered between the first and the last is the load.
void submit(const GeneratorOptions& options, const RandomStreams& streams, std::vector<MixJob>& jobs) {
  double gpu_seconds = 0;
  for (const MixJob& job : jobs)
    gpu_seconds += job.gpus * job.duration_s;
  const double span_s =
      std::max(1.0, std::round(gpu_seconds / (options.cluster_gpus.value() * options.load)));
  RandomStream arrivals = streams.stream("mix arrivals");
  double now = 0;
  for (MixJob& job : jobs) {
    job.submit_s = now;
    now += arrivals.exponential(1.0);
  }
  const double last = jobs.back().submit_s;
  for (MixJob& job : jobs)
    job.submit_s = last > 0 ? std::round(job.submit_s * (span_s / last)) : 0.0;
}

} // namespace

std::string generate_llm_mix(const GeneratorOptions& options) {
  const RandomStreams streams(options.seed);
  std::vector<MixJob> jobs = draw_mix(options, streams);
  submit(options, streams, jobs);
  RandomStream deadlines = streams.stream("mix deadlines");
  RandomStream users = streams.stream("mix users");
  constexpr std::uint64_t kUsers = 6; // of a tenant
  std::string out =
      "job_id,submit_s,gpus,iterations,model,global_batch,min_gpus,max_gpus,deadline_s,priority,user,"
      "tenant\n";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const MixJob& job = jobs[i];
    const Purpose& purpose = kPurposes[job.recipe->purpose];
    const bool has_deadline = deadlines.uniform() < options.deadline_fraction;
    const double slack = deadlines.uniform(1.2, 3.0);
    fmt::format_to(std::back_inserter(out), "j{},{:.0f},{},{},{},{},{},{},{},{},{}-{},{}\n", i + 1,
                   job.submit_s, job.gpus, job.iterations, job.recipe->model, job.recipe->global_batch,
                   std::max(1, job.gpus / 2), std::min(2 * job.gpus, options.cluster_gpus.value()),
                   has_deadline ? fmt::format("{:.0f}", job.submit_s + std::ceil(slack * job.duration_s))
                                : std::string(),
                   purpose.priority, purpose.tenant, users.below(kUsers) + 1, purpose.tenant);
  }
  return out;
}

} // namespace vtrain
