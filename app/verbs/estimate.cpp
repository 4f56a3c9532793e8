// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/estimate_view.hpp"
#include "app/job_description.hpp"
#include "app/job_estimate.hpp"
#include "app/job_flags.hpp"
#include "app/log.hpp"
#include "app/measured_file.hpp"
#include "app/memory_advice.hpp"
#include "app/output_file.hpp"
#include "app/prediction_view.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

constexpr const char* kTimeline = "{\"displayTimeUnit\""; // how a time-line of ours begins
constexpr const char* kGraph = "digraph";

struct EstimateArguments {
  std::optional<std::string> file, timeline, graph, rows;
  JobFlags job;
};

std::optional<std::string> value_of(const ConfigNode& settings, const char* key) {
  const ConfigNode* const value = settings.find(key);
  return value == nullptr ? std::nullopt : std::optional(value->scalar);
}

/// A job for each row of a table.
void estimate_rows(const EstimateArguments& arguments, const CommonFlags& flags) {
  Diagnostics diagnostics;
  const auto conflict = [&](const std::string& option) {
    diagnostics.error({"--rows", 0, 0}, fmt::format("jobs of a table do not go with {}", option));
  };
  for (const std::string& option : arguments.job.given())
    if (option != "--calibration" && option != "--collectives")
      conflict(option);
  if (arguments.file)
    conflict("a job file");
  if (arguments.timeline)
    conflict("--timeline");
  if (arguments.graph)
    conflict("--graph");
  diagnostics.throw_if_errors();
  ConfigNode settings = ConfigNode::map();
  arguments.job.set_over(settings);
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  const MeasuredRows rows =
      read_measured_file(*arguments.rows, MeasuredTimes::optional, catalogue, diagnostics);
  const auto collectives = read_collectives(value_of(settings, "collectives"), diagnostics);
  const auto predictions = predict_rows(rows.rows, value_of(settings, "calibration").value_or(""), catalogue,
                                        collectives ? &*collectives : nullptr, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, flags);
  std::fputs(render_predictions(predictions, rows.skipped, flags.format).c_str(), stdout);
}

/// Says what is needed, what there is, and what would help.
void warn_if_too_large(const JobEstimate& estimate, Diagnostics& diagnostics) {
  const MemoryEstimate& memory = estimate.memory;
  const JobDescription& job = estimate.job;
  if (memory.fits())
    return;
  const std::string advice = memory_advice(job.model, job.plan, job.node, job.gpus);
  diagnostics.warning({},
                      fmt::format("the plan does not fit in memory: a GPU of pipeline stage {} needs {}, and "
                                  "{} has {} for it",
                                  memory.worst_stage, gibibytes(memory.peak), job.node.gpu.name,
                                  gibibytes(memory.capacity)),
                      advice.empty() ? "no change of the plan that was tried fits" : advice);
}

void estimate_job(const EstimateArguments& arguments, const CommonFlags& flags) {
  if (arguments.timeline)
    check_replaceable(*arguments.timeline, "time-line", kTimeline);
  if (arguments.graph)
    check_replaceable(*arguments.graph, "operator graph", kGraph);
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  Diagnostics diagnostics;
  const JobDescription job = read_job(arguments.file, arguments.job, catalogue, diagnostics);
  check_plan_of(job);
  JobEstimator estimator(job, catalogue, diagnostics);
  const JobEstimate estimate = estimator.estimate();
  warn_if_too_large(estimate, diagnostics);
  std::string text = render(estimate, flags.format);
  std::string written;
  if (arguments.timeline) {
    write_file(*arguments.timeline, estimator.timeline(diagnostics));
    written += fmt::format("time-line  {} (open it at ui.perfetto.dev)\n", *arguments.timeline);
  }
  if (arguments.graph) {
    write_file(*arguments.graph, estimator.graph());
    written += fmt::format("operators  {} (dot -Tsvg draws it)\n", *arguments.graph);
  }
  if (flags.format == OutputFormat::table && !written.empty())
    text += "\n" + written;
  show_warnings(diagnostics, flags);
  std::fputs(text.c_str(), stdout);
}

int estimate_verb(const EstimateArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  if (arguments.rows)
    estimate_rows(arguments, flags);
  else
    estimate_job(arguments, flags);
  return 0;
}

} // namespace

void add_estimate(CommandLine& command) {
  const auto arguments = std::make_shared<EstimateArguments>();
  Verb& verb =
      command.verb("estimate", "Estimate the iteration time of a training job: where it goes, MFU, memory");
  verb.positional("JOB", arguments->file, "a job file (YAML); flags are set over it")
      .option("--rows FILE", arguments->rows, "estimate the jobs of a table, a CSV file, instead of one job")
      .option("--timeline FILE", arguments->timeline, "write the iteration's time-line for ui.perfetto.dev")
      .option("--graph FILE", arguments->graph, "write the operators of the model as a Graphviz graph");
  arguments->job.add_to(verb);
  verb.example(
          "vtrain estimate --model gpt3-175b --platform dgx-a100-80g --tp 8 --pp 16 --dp 4 --micro-batch 2 "
          "--global-batch 1536 --recompute full")
      .example("vtrain estimate job.yaml --tp 4 --timeline iteration.json")
      .example("vtrain estimate --rows rows.csv --format csv")
      .action([arguments](const CommonFlags& flags) { return estimate_verb(*arguments, flags); });
}

} // namespace vtrain
