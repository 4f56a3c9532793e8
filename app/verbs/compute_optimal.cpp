// SPDX-License-Identifier: MIT
#include "app/case_study.hpp"
#include "app/command_line.hpp"
#include "app/compute_optimal_view.hpp"
#include "app/log.hpp"
#include "app/verbs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

struct ComputeOptimalArguments {
  std::optional<std::string> platform, stack, calibration;
  std::optional<std::int64_t> gpus, global_batch;
  std::optional<double> days;
};

int compute_optimal_verb(const ComputeOptimalArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  Diagnostics diagnostics;
  const auto needed = [&](bool is_given, const char* name, const char* example) {
    if (!is_given)
      diagnostics.error({name, 0, 0}, fmt::format("'{}' is missing", name), example);
  };
  needed(arguments.platform.has_value(), "--platform", "write --platform dgx-a100-80g");
  needed(arguments.gpus.has_value(), "--gpus", "write --gpus 1024");
  needed(arguments.days.has_value(), "--days", "write --days 30");
  diagnostics.throw_if_errors();
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  const ComputeOptimalReport report = compute_optimal_report({.model = "gpt3-175b",
                                                              .platform = *arguments.platform,
                                                              .stack = arguments.stack,
                                                              .calibration = arguments.calibration,
                                                              .plan = {}},
                                                             *arguments.gpus, *arguments.days,
                                                             arguments.global_batch, catalogue, diagnostics);
  show_warnings(diagnostics, flags);
  std::fputs(render(report, flags.format).c_str(), stdout);
  return 0;
}

} // namespace

void add_compute_optimal(CommandLine& command) {
  const auto arguments = std::make_shared<ComputeOptimalArguments>();
  command
      .verb("compute-optimal",
            "Find the largest compute-optimal model that GPUs train in time, at the speed of its best plan")
      .option("--platform NAME|FILE", arguments->platform, "node type, cluster, or a cluster's YAML (needed)")
      .option("--gpus N", arguments->gpus, "GPUs that there are (needed)")
      .option("--days D", arguments->days, "days that there are (needed)")
      .option("--global-batch N", arguments->global_batch,
              "samples of an iteration (default: the best of a few of about 4 million tokens)")
      .option("--stack NAME", arguments->stack, "training program (default: megatron-lm)")
      .option("--calibration NAME|FILE", arguments->calibration,
              "constants of the cost model (default: what suits GPU, precision and stack)")
      .example("vtrain compute-optimal --platform dgx-a100-80g --gpus 3360 --days 30")
      .action([arguments](const CommonFlags& flags) { return compute_optimal_verb(*arguments, flags); });
}

} // namespace vtrain
