// SPDX-License-Identifier: MIT
// What kinds of jobs an LLM development cluster runs, as distributions. Private to this room.
#pragma once

#include "common/random.hpp"
#include "common/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vtrain {

/// The latent class of a synthetic job, after the job types of Acme (Hu et al., "Characterization of Large
/// Language Model Development in the Datacenter", NSDI'24).
enum class LlmJobClass : std::uint8_t { pretrain, sft, eval, mllm, debug, other };
inline constexpr std::size_t kLlmJobClasses = 6;

/// A lognormal by its median in seconds and the standard deviation of its logarithm.
struct Lognormal {
  double median_s;
  double sigma;
};

struct LlmClassProfile {
  double share;                    ///< of the jobs that are submitted one by one
  std::array<double, 11> widths;   ///< weights of 1, 2, 4, … 1024 GPUs
  double long_share;               ///< of jobs whose duration comes from `long_part`, over all widths
  Lognormal short_part, long_part; ///< duration: a thin-tailed body and a heavy tail
  int priority;
  std::size_t tenant; ///< index of `kTenants`
};
[[nodiscard]] const LlmClassProfile& profile_of(LlmJobClass job_class);

/// A team that shares the cluster, and how many people it has.
struct Tenant {
  std::string_view name;
  std::size_t users;
};
inline constexpr std::array<Tenant, 5> kTenants{
    {{"foundation", 6}, {"alignment", 14}, {"evaluation", 8}, {"multimodal", 10}, {"research", 22}}};

/// The class of a job that is submitted by itself.
[[nodiscard]] LlmJobClass draw_class(RandomStream& random);
/// Number of GPUs: a power of two, no more than the cluster has.
[[nodiscard]] GpuCount draw_width(LlmJobClass job_class, GpuCount cluster_gpus, RandomStream& random);
/// Duration in seconds, before any scaling. Wider jobs are long more often.
[[nodiscard]] double draw_duration_s(LlmJobClass job_class, GpuCount gpus, RandomStream& random);
/// A model of a size that so many GPUs train.
[[nodiscard]] std::string_view draw_model(GpuCount gpus, RandomStream& random);
/// A member of the tenant: few people submit most jobs (Zipf).
[[nodiscard]] std::size_t draw_member(const Tenant& tenant, RandomStream& random);

} // namespace vtrain
