// SPDX-License-Identifier: MIT
#include "traces/llm_job_classes.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace vtrain {
namespace {

// Widths and durations follow the quantiles that the Acme paper's figures show for its Seren cluster: widths
// by quartiles and whiskers, durations as the two-part lognormal that has their p50, p90 and p99. The shares
// are those of jobs outside bursts and cron runs, which are all evaluation; together with these they give the
// paper's shares. Differences on purpose: pre-training is 2.2 % instead of 0.9 % of jobs, and most of its
// jobs are long, since its many launches that fail at once say nothing in a trace without failures.
constexpr std::array<LlmClassProfile, kLlmJobClasses> kProfiles{{
    {.share = 0.038, // pretrain
     .widths = {0, 0, 0, .02, .05, .13, .22, .25, .20, .10, .03},
     .long_share = 0.60,
     .short_part = {600, 1.3},
     .long_part = {21600, 0.7},
     .priority = 2,
     .tenant = 0},
    {.share = 0.260, // sft
     .widths = {.15, .12, .10, .53, .10},
     .long_share = 0.19,
     .short_part = {170, 0.68},
     .long_part = {1245, 1.47},
     .priority = 0,
     .tenant = 1},
    {.share = 0.367, // eval
     .widths = {.62, .08, .12, .18},
     .long_share = 0.11,
     .short_part = {108, 1.12},
     .long_part = {2940, 1.24},
     .priority = 0,
     .tenant = 2},
    {.share = 0.050, // mllm
     .widths = {.40, .15, .12, .25, .08},
     .long_share = 0.13,
     .short_part = {210, 1.04},
     .long_part = {13400, 1.22},
     .priority = 0,
     .tenant = 3},
    {.share = 0.035, // debug
     .widths = {.08, .04, 0, .78, .06, .04},
     .long_share = 0.075,
     .short_part = {101, 1.19},
     .long_part = {6600, 1.11},
     .priority = 1,
     .tenant = 0},
    {.share = 0.250, // other
     .widths = {.60, .05, .05, .25, .05},
     .long_share = 0.14,
     .short_part = {61, 1.17},
     .long_part = {5500, 1.58},
     .priority = 0,
     .tenant = 4},
}};

/// Draws further out than this many standard deviations are cut: one job must not make a whole trace.
constexpr double kTruncation = 2.3;

struct ModelSize {
  std::int32_t from_gpus;
  std::array<std::string_view, 3> models;
};
constexpr std::array<ModelSize, 4> kModels{{
    {1, {"gpt3-1.3b", "gpt3-2.7b", "megatron-1.7b"}},
    {8, {"gpt3-6.7b", "llama2-7b", "megatron-7.5b"}},
    {32, {"gpt3-13b", "llama2-13b", "megatron-18.4b"}},
    {128, {"megatron-18.4b", "megatron-39.1b", "llama2-70b"}},
}};

} // namespace

const LlmClassProfile& profile_of(LlmJobClass job_class) {
  return kProfiles[static_cast<std::size_t>(job_class)];
}

LlmJobClass draw_class(RandomStream& random) {
  std::array<double, kLlmJobClasses> shares{};
  std::ranges::transform(kProfiles, shares.begin(), &LlmClassProfile::share);
  return static_cast<LlmJobClass>(random.weighted(shares));
}

GpuCount draw_width(LlmJobClass job_class, GpuCount cluster_gpus, RandomStream& random) {
  // Pre-training leaves half of the cluster to others, and more than a quarter is rare.
  const bool is_pretrain = job_class == LlmJobClass::pretrain;
  const std::int32_t most = std::max(1, is_pretrain ? cluster_gpus.value() / 2 : cluster_gpus.value());
  std::array<double, 11> weights = profile_of(job_class).widths;
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int32_t gpus = 1 << i;
    if (gpus > most)
      weights[i] = 0.0;
    else if (4 * gpus > cluster_gpus.value())
      weights[i] /= 3.0;
    sum += weights[i];
  }
  if (sum > 0.0)
    return GpuCount(1 << random.weighted(weights));
  (void)random.uniform(); // a cluster narrower than any job of the class: still one draw for each job
  return GpuCount(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(most))));
}

double draw_duration_s(LlmJobClass job_class, GpuCount gpus, RandomStream& random) {
  const LlmClassProfile& profile = profile_of(job_class);
  const double doublings = std::log2(static_cast<double>(gpus.value()));
  const double long_share =
      job_class == LlmJobClass::pretrain
          ? profile.long_share
          : std::min(0.6, profile.long_share * (0.5 + 0.5 * doublings)); // about long_share in the mean
  const Lognormal& part = random.uniform() < long_share ? profile.long_part : profile.short_part;
  const double deviations = std::clamp(random.normal(), -kTruncation, kTruncation);
  return part.median_s * std::exp(part.sigma * deviations);
}

std::string_view draw_model(GpuCount gpus, RandomStream& random) {
  const auto larger = std::ranges::upper_bound(kModels, gpus.value(), {}, &ModelSize::from_gpus);
  VTRAIN_ASSERT(larger != kModels.begin(), "a job without GPUs");
  const auto& models = std::prev(larger)->models;
  return models[random.below(models.size())];
}

std::size_t draw_member(const Tenant& tenant, RandomStream& random) {
  constexpr double kZipf = 1.1;
  std::vector<double> weights;
  for (std::size_t rank = 1; rank <= tenant.users; ++rank)
    weights.push_back(std::pow(static_cast<double>(rank), -kZipf));
  return random.weighted(weights);
}

} // namespace vtrain
