// SPDX-License-Identifier: MIT
#include "app/case_study.hpp"
#include "app/command_line.hpp"
#include "app/compute_optimal_view.hpp"
#include "app/log.hpp"
#include "app/mt_nlg_study.hpp"
#include "app/verbs.hpp"

#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

struct ReproduceArguments {
  std::optional<std::string> calibration;
};

int reproduce_mt_nlg(const ReproduceArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  Diagnostics diagnostics;
  const MtNlgStudy study = mt_nlg_study(arguments.calibration, CalibrationCatalogue::builtin(), diagnostics);
  show_warnings(diagnostics, flags);
  std::fputs(render(study, flags.format).c_str(), stdout);
  return 0;
}

int reproduce_compute_optimal(const ReproduceArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  constexpr std::int64_t kGpus = 3360;
  constexpr double kDays = 30;
  Diagnostics diagnostics;
  ComputeOptimalReport report =
      compute_optimal_report({.model = "gpt3-175b",
                              .platform = "dgx-a100-80g",
                              .stack = {},
                              .calibration = arguments.calibration,
                              .plan = {}},
                             kGpus, kDays, 0, CalibrationCatalogue::builtin(), diagnostics);
  report.published = PublishedComputeOptimal{.naive_parameters = 145.61e9,
                                             .utilization = 0.3556,
                                             .naive_days = 85,
                                             .parameters = 76.04e9,
                                             .plan = "(8,70,6)",
                                             .source = "vTrain (arXiv 2312.12391), case study 3"};
  show_warnings(diagnostics, flags);
  std::fputs(render(report, flags.format).c_str(), stdout);
  return 0;
}

} // namespace

void add_reproduce(CommandLine& command) {
  Verb& reproduce = command.verb("reproduce", "Repeat a published case study, beside the published figures");
  const auto add = [&](const char* name, const char* summary, auto run) {
    const auto arguments = std::make_shared<ReproduceArguments>();
    reproduce.verb(name, summary)
        .option("--calibration NAME|FILE", arguments->calibration,
                "constants of the cost model (default: what suits GPU, precision and stack)")
        .example(std::string("vtrain reproduce ") + name)
        .action([arguments, run](const CommonFlags& flags) { return run(*arguments, flags); });
  };
  add("mt-nlg", "vTrain's cost-effective plans for MT-NLG 530B", reproduce_mt_nlg);
  add("compute-optimal", "vTrain's compute-optimal model for 3,360 A100 and 30 days",
      reproduce_compute_optimal);
}

} // namespace vtrain
