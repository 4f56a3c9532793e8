// SPDX-License-Identifier: MIT
// What `vtrain plan` is asked: a job, the plans to look at, and the training run that they are for.
#pragma once

#include "app/job_description.hpp"
#include "app/job_flags.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/search/plan_search.hpp"
#include "vtrain_core/search/plan_space.hpp"
#include "vtrain_core/search/training_run.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace vtrain {

/// The verb's own options, as they were given.
struct PlanArguments {
  std::optional<std::string> file, megatron;
  std::optional<std::int64_t> gpus, max_gpus, iterations, top, threads;
  std::optional<double> tokens, price;
  std::optional<std::string> objective, node_mtbf, checkpoint_write, restart;
  JobFlags job;
};

/// A search, ready to run.
struct PlanRequest {
  JobDescription job; ///< its plan has the settings that are not searched
  PlanSpace space;
  PlanObjective objective = PlanObjective::time;
  std::size_t top = 10;
  std::size_t threads = 1;
  std::optional<std::int64_t> iterations; ///< of the run; none: only iterations are compared
  std::optional<Reliability> reliability;
  std::optional<ParallelPlan> given; ///< the plan of a Megatron-LM script, to be explained beside the best
  std::string given_file;
};

/// Reads the request. A list of a searched setting (--tp 4,8, or a sequence in the job file) restricts the
/// search. Throws InputError with everything that is wrong, IoError when a file cannot be read.
[[nodiscard]] PlanRequest read_plan_request(const PlanArguments& arguments,
                                            const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);

} // namespace vtrain
