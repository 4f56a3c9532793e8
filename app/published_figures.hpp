// SPDX-License-Identifier: MIT
// Figures of publications that the case studies stand beside: the one place that has them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vtrain::published {

/// A plan of vTrain's first case study (arXiv 2312.12391).
struct MtNlgPlan {
  std::int32_t tensor, data, pipeline;
  double iteration_s, utilization, days, cost_usd;
  /// Which of these figures are not printed there but follow from the others by arithmetic; empty: none.
  std::string_view derived;
};
/// MT-NLG's own plan, and the one that the study finds to be cheaper.
inline constexpr std::array<MtNlgPlan, 2> kMtNlgPlans{
    {{8, 8, 35, 42.59, 0.4267, 33.52, 9.01e6, ""},
     {8, 12, 21, 45.3, 0.446, 35.6, 8.62e6, "time, MFU and days derived"}}};
inline constexpr double kMtNlgGpuHourUsd = 5.0;
inline constexpr std::int64_t kMtNlgIterations = 68000; ///< 33.52 days of 42.59 s

/// What MT-NLG's authors measured under their plan (Smith et al., arXiv 2201.11990, section 3.1).
inline constexpr double kMtNlgMeasuredSeconds = 60.1;
inline constexpr double kMtNlgMeasuredUtilization = 0.302;

/// vTrain's third case study: the compute-optimal model for 3,360 A100 and 30 days.
struct ComputeOptimal {
  std::int64_t gpus;
  double days;
  double naive_parameters; ///< at full utilisation
  double utilization;      ///< of that model's best plan
  double naive_days;       ///< that it takes then
  double parameters;       ///< of the largest model in time
  std::string_view plan;   ///< its plan, (t,d,p)
  std::string_view source;
};
inline constexpr ComputeOptimal kComputeOptimal{
    3360, 30, 145.61e9, 0.3556, 85, 76.04e9, "(8,70,6)", "vTrain (arXiv 2312.12391), case study 3"};

} // namespace vtrain::published
