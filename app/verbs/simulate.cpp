// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/exit_code.hpp"
#include "app/experiment.hpp"
#include "app/experiment_plan.hpp"
#include "app/log.hpp"
#include "app/manifest.hpp"
#include "app/progress.hpp"
#include "app/report/report.hpp"
#include "app/results_view.hpp"
#include "app/run.hpp"
#include "app/run_folder.hpp"
#include "app/threshold.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"

#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

struct SimulateArguments {
  std::string file;
  std::optional<std::string> output;
  std::vector<std::string> sets;
  std::optional<std::int64_t> seed;
  bool dry_run = false;
};

void print_summary(const Summary& summary, const std::string& folder, OutputFormat format) {
  std::string out;
  switch (format) {
  case OutputFormat::table: out = summary_text(summary) + "  results       " + folder + "\n"; break;
  case OutputFormat::json: out = to_json(summary); break;
  case OutputFormat::csv: out = run_rows({summary}).to_csv(); break;
  }
  std::fputs(out.c_str(), stdout);
}

int simulate_verb(const SimulateArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  const PolicyRegistry registry = builtin_policies();
  Diagnostics diagnostics;
  const Experiment experiment =
      read_experiment(arguments.file, {.sets = arguments.sets, .seed = arguments.seed, .policies = {}},
                      registry, diagnostics);
  const Workload workload = read_workload(experiment, diagnostics, !flags.quiet);
  show_warnings(diagnostics, flags);
  if (arguments.dry_run) {
    std::fputs(plan_table(experiment, workload).render(flags.format).c_str(), stdout);
    return static_cast<int>(ExitCode::ok);
  }
  OutputFolder folder(arguments.output.value_or("out/" + experiment.name), {kManifestName, kManifestProgram});
  RunResult result;
  {
    ProgressLine progress(experiment.policy, !flags.quiet);
    result = simulate_and_write(
        {.experiment = experiment,
         .workload = workload,
         .policy = *registry.find(experiment.policy),
         .command_line = command_line_text(),
         .progress = [&](const SimulationProgress& p) { progress.update(p); }},
        [&](const std::string& name, std::string_view bytes) { folder.write(name, bytes); });
  }
  if (result.interrupted && folder.replaces())
    throw Interrupted("interrupted; the earlier results in " + folder.target().string() + " were kept");
  folder.write("report.html", report_html(experiment.name, {result.report}));
  folder.commit();
  print_summary(result.report.summary, folder.target().string(), flags.format);
  if (result.interrupted)
    throw Interrupted("interrupted: the results in " + folder.target().string() + " are partial");
  const std::vector<std::string> broken = broken_thresholds(experiment.thresholds, result.report.summary);
  for (const std::string& text : broken)
    std::fprintf(stderr, "%s\n", text.c_str());
  return static_cast<int>(broken.empty() ? ExitCode::ok : ExitCode::threshold);
}

} // namespace

void add_simulate(CommandLine& command) {
  auto arguments = std::make_shared<SimulateArguments>();
  command.verb("simulate", "Simulate one experiment: a trace, a cluster, a policy")
      .positional("EXPERIMENT", arguments->file, "the experiment file (YAML)")
      .option("-o,--output", arguments->output, "folder of the results (default: out/NAME)")
      .options("--set", arguments->sets, "change a setting: --set scheduler.policy=srtf (may be repeated)")
      .option("--seed", arguments->seed, "seed of every random stream")
      .flag("--dry-run", arguments->dry_run, "check everything and show what would be simulated")
      .example("vtrain simulate docs/examples/quickstart.yaml --set scheduler.policy=srtf")
      .action([arguments](const CommonFlags& flags) { return simulate_verb(*arguments, flags); });
}

} // namespace vtrain
