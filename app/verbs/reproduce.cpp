// SPDX-License-Identifier: MIT
#include "app/case_study.hpp"
#include "app/command_line.hpp"
#include "app/compute_optimal_view.hpp"
#include "app/log.hpp"
#include "app/mt_nlg_study.hpp"
#include "app/published_figures.hpp"
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
  constexpr const published::ComputeOptimal& kStudy = published::kComputeOptimal;
  Diagnostics diagnostics;
  ComputeOptimalReport report = compute_optimal_report({.model = "gpt3-175b",
                                                        .platform = "dgx-a100-80g",
                                                        .stack = {},
                                                        .calibration = arguments.calibration,
                                                        .plan = {}},
                                                       kStudy.gpus, kStudy.days, std::nullopt,
                                                       CalibrationCatalogue::builtin(), diagnostics);
  report.published = &kStudy;
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
