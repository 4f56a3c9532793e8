// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/exit_code.hpp"
#include "app/experiment.hpp"
#include "app/log.hpp"
#include "app/manifest.hpp"
#include "app/process_pool.hpp"
#include "app/progress.hpp"
#include "app/report/comparison.hpp"
#include "app/report/report.hpp"
#include "app/results_view.hpp"
#include "app/run.hpp"
#include "app/run_folder.hpp"
#include "app/threshold.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"
#include "common/parallel.hpp"
#include "common/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

struct CompareArguments {
  std::string file;
  std::optional<std::string> policies;
  std::optional<std::string> output;
  std::optional<std::int64_t> parallel;
  std::vector<std::string> sets;
  std::optional<std::int64_t> seed;
};

std::string without_blanks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// "fifo,srtf" or "all" as names; every unknown or repeated name is an error.
std::vector<std::string> parse_policies(const std::string& text, const PolicyRegistry& registry) {
  if (text == "all")
    return registry.names();
  Diagnostics diagnostics;
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = without_blanks(text.substr(begin, end - begin));
    if (registry.find(name) == nullptr)
      diagnostics.error({"--policies", 0, 0}, fmt::format("unknown policy '{}'", name),
                        suggest(name, registry.names()));
    else if (std::ranges::find(out, name) != out.end())
      diagnostics.error({"--policies", 0, 0}, fmt::format("policy '{}' is named twice", name));
    else
      out.push_back(name);
    begin = end + 1;
  }
  diagnostics.throw_if_errors();
  return out;
}

unsigned parallelism(const CompareArguments& arguments) {
  constexpr std::int64_t kMost = 1024;
  const std::int64_t wanted = arguments.parallel.value_or(static_cast<std::int64_t>(usual_threads()));
  if (wanted < 1 || wanted > kMost)
    throw InputError({"-j", 0, 0}, fmt::format("{} is no number of processes", wanted), "write -j 2");
  return static_cast<unsigned>(wanted);
}

/// One run of the comparison, in a child: files go to the folder of its policy.
void run_policy(const Experiment& experiment, const Workload& workload, const PolicyEntry& policy,
                const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  const RunResult result = simulate_and_write(
      {.experiment = experiment,
       .workload = workload,
       .policy = policy,
       .command_line = command_line_text(),
       .progress = {}},
      [&](const std::string& name, std::string_view bytes) { write_file(folder / name, bytes); });
  if (result.interrupted)
    throw Interrupted("interrupted: the results are partial");
}

std::vector<TaskResult> run_all(const Experiment& experiment, const Workload& workload,
                                const PolicyRegistry& registry, const std::vector<std::string>& policies,
                                const OutputFolder& folder, unsigned parallel, bool quiet) {
  std::vector<std::function<void()>> tasks;
  tasks.reserve(policies.size());
  for (const std::string& name : policies)
    tasks.emplace_back(
        [&, name] { run_policy(experiment, workload, *registry.find(name), folder.staging() / name); });
  std::fflush(nullptr);
  CompareProgress progress(policies, !quiet);
  return run_in_children(
      tasks, parallel, [&](std::size_t task) { progress.finished(task); }, &interrupt_flag());
}

/// The policies that run, in the order in which they were named.
std::vector<std::string> runnable(const std::vector<std::string>& named, const Experiment& experiment) {
  std::vector<std::string> out;
  for (const std::string& name : named)
    if (std::ranges::find(experiment.skipped, name, &Experiment::SkippedPolicy::name) ==
        experiment.skipped.end())
      out.push_back(name);
  return out;
}

Comparison collect(const Experiment& experiment, const std::vector<std::string>& policies,
                   const std::vector<TaskResult>& results, const OutputFolder& folder) {
  Comparison comparison;
  for (const Experiment::SkippedPolicy& skipped : experiment.skipped)
    comparison.skipped.push_back({skipped.name, skipped.reason});
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const std::filesystem::path run = folder.staging() / policies[i];
    // An interrupted run is shown as far as it came.
    const bool usable = results[i].exit_code == static_cast<int>(ExitCode::ok) ||
                        results[i].exit_code == static_cast<int>(ExitCode::interrupted);
    if (usable && std::filesystem::exists(run / kManifestName)) {
      comparison.runs.push_back(read_report_run(run));
      continue;
    }
    std::filesystem::remove_all(run);
    comparison.skipped.push_back({policies[i], results[i].message});
  }
  return comparison;
}

void print(const Comparison& comparison, const std::string& folder, const std::string& title,
           OutputFormat format) {
  if (format == OutputFormat::json) {
    std::fputs(to_json(comparison).c_str(), stdout);
    return;
  }
  std::vector<Summary> summaries;
  for (const ReportRun& run : comparison.runs)
    summaries.push_back(run.summary);
  if (format == OutputFormat::csv) {
    std::fputs(run_rows(summaries).to_csv().c_str(), stdout);
    return;
  }
  if (!summaries.empty())
    fmt::print("{}: {} jobs on {} ({} GPUs), placement {}\n\n{}", title, summaries.front().submitted,
               summaries.front().cluster.name, summaries.front().cluster.gpus().value(),
               summaries.front().placement, comparison_table(summaries).to_text());
  if (!summaries.empty() && summaries.front().trimmed > 0)
    fmt::print("\n{} jobs are outside the measured window and left out of means\n",
               summaries.front().trimmed);
  for (const Comparison::Skipped& skipped : comparison.skipped)
    fmt::print("without {}: {}\n", skipped.policy, skipped.reason);
  fmt::print("\nreport  {0}/report.html\nresults {0}/\n", folder);
}

/// The worst that happened: a failed run before an interrupt before a broken threshold.
int exit_code_of(const Experiment& experiment, const std::vector<std::string>& policies,
                 const Comparison& comparison, const std::vector<TaskResult>& results) {
  int code = 0;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (!results[i].message.empty())
      std::fprintf(stderr, "%s: %s\n", policies[i].c_str(), results[i].message.c_str());
    if (code == 0 || code == static_cast<int>(ExitCode::interrupted))
      code = results[i].exit_code != 0 ? results[i].exit_code : code;
  }
  for (const ReportRun& run : comparison.runs)
    for (const std::string& text : broken_thresholds(experiment.thresholds, run.summary)) {
      std::fprintf(stderr, "%s: %s\n", run.summary.policy.c_str(), text.c_str());
      code = code == 0 ? static_cast<int>(ExitCode::threshold) : code;
    }
  return code;
}

int compare_verb(const CompareArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  const PolicyRegistry registry = builtin_policies();
  if (!arguments.policies)
    throw InputError({}, "compare needs --policies", "write --policies fifo,srtf or --policies all");
  const std::vector<std::string> named = parse_policies(*arguments.policies, registry);
  const unsigned parallel = parallelism(arguments);
  Diagnostics diagnostics;
  const Experiment experiment = read_experiment(arguments.file,
                                                {.sets = arguments.sets,
                                                 .seed = arguments.seed,
                                                 .policies = named,
                                                 .skip_unfit = *arguments.policies == "all"},
                                                registry, diagnostics);
  const std::vector<std::string> policies = runnable(named, experiment);
  const Workload workload = read_workload(experiment, diagnostics, !flags.quiet);
  show_warnings(diagnostics, flags);
  OutputFolder folder(arguments.output.value_or("out/" + experiment.name), {kManifestName, kManifestProgram});
  const std::vector<TaskResult> results =
      run_all(experiment, workload, registry, policies, folder, parallel, flags.quiet);
  const Comparison comparison = collect(experiment, policies, results, folder);
  if (interrupt_flag().load() && folder.replaces())
    throw Interrupted("interrupted; the earlier results in " + folder.target().string() + " were kept");
  folder.write("compare.json", to_json(comparison));
  folder.write("report.html", report_html(experiment.name, comparison.runs));
  folder.write("compare.svg", to_svg(jct_chart(comparison.runs)));
  folder.write(kManifestName, comparison_manifest(experiment, workload, command_line_text(),
                                                  comparison.runs.size() == policies.size()));
  folder.commit();
  print(comparison, folder.target().string(), experiment.name, flags.format);
  return exit_code_of(experiment, policies, comparison, results);
}

} // namespace

void add_compare(CommandLine& command) {
  auto arguments = std::make_shared<CompareArguments>();
  command.verb("compare", "Simulate the same experiment under several policies and compare them")
      .positional("EXPERIMENT", arguments->file, "the experiment file (YAML)")
      .option("--policies", arguments->policies, "policies by name, with commas between them, or all")
      .option("-o,--output", arguments->output, "folder of the results (default: out/NAME)")
      .option("-j,--jobs", arguments->parallel, "processes at a time (default: the number of cores)")
      .options("--set", arguments->sets,
               "change a setting: --set scheduler.placement=count (may be repeated)")
      .option("--seed", arguments->seed, "seed of every random stream")
      .example("vtrain compare docs/examples/quickstart.yaml --policies fifo,srtf,las,easy -j 2")
      .action([arguments](const CommonFlags& flags) { return compare_verb(*arguments, flags); });
}

} // namespace vtrain
