// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/log.hpp"
#include "app/plan_report.hpp"
#include "app/plan_request.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "common/quantity_text.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace vtrain {
namespace {

/// As many GPUs as a plan of the space can have, for the search of the smallest that fits.
constexpr std::int64_t kFarEnough = 65536;

PlanRow row_of(const PlanRequest& request, JobEstimator& estimator, const ParallelPlan& plan) {
  PlanRow row;
  row.estimate = estimator.estimate(plan);
  const Seconds iteration = row.estimate.iteration.time;
  const NodeType& node = request.job.node;
  row.iteration_cost_usd = training_run(iteration, 1, plan.gpus(), node, std::nullopt).cost_usd;
  if (request.iterations) {
    row.run = training_run(iteration, *request.iterations, plan.gpus(), node, request.reliability);
    if (!(row.run->wall <= kLongestTime))
      throw InputError({request.reliability ? "--node-mtbf" : "--tokens", 0, 0},
                       fmt::format("the run on {} GPUs would take {:.3g} days{}", plan.gpus(),
                                   row.run->wall / kDay,
                                   request.reliability ? ": nodes fail before a checkpoint is written" : ""),
                       fmt::format("the longest time is {}", format_seconds(kLongestTime)));
  }
  return row;
}

/// No plan fits: says on how many GPUs one does.
[[noreturn]] void refuse(const PlanRequest& request, const SearchResult& result) {
  const JobDescription& job = request.job;
  // What no degree can help, such as fp8 on a GPU that lacks it.
  std::vector<Diagnostic> findings;
  for (std::string& fault : plan_faults(job.model, request.space.base, job.node.gpu))
    findings.push_back({job.plan_where, Severity::error, std::move(fault), {}});
  if (result.searched == 0 && !findings.empty())
    throw InputError(std::move(findings));
  const std::int64_t gpus = request.space.most_gpus;
  const bool exact = !request.space.gpu_counts.empty();
  PlanSpace wider = request.space;
  wider.gpu_counts.clear();
  wider.most_gpus = kFarEnough;
  std::string hint = fmt::format("no plan that was looked at fits on {} GPUs or fewer", kFarEnough);
  if (const auto least = smallest_fitting_plan(job.model, job.node, wider)) {
    hint = fmt::format("the smallest number of GPUs on which a plan fits is {} ({})", least->gpus(),
                       describe(*least));
    if (least->gpus() < gpus)
      if (const auto next = smallest_fitting_plan(job.model, job.node, wider, gpus))
        hint += fmt::format(", the next from {} on is {}", gpus, next->gpus());
  }
  throw InputError(
      {exact ? "--gpus" : "--max-gpus", 0, 0},
      fmt::format("{} of {} with global batch {} {} on {}{} GPUs of {}",
                  result.searched == 0 ? "no plan" : fmt::format("none of {} plans", result.searched),
                  job.model.name, job.plan.global_batch,
                  result.searched == 0 ? "is possible" : "fits in memory", exact ? "" : "at most ", gpus,
                  job.platform),
      hint);
}

PlanReport search(PlanRequest request, const CalibrationCatalogue& catalogue, const CommonFlags& flags,
                  Diagnostics& diagnostics) {
  JobEstimator estimator(request.job, catalogue, diagnostics);
  SearchResult result;
  {
    StatusLine line(!flags.quiet);
    SearchRequest search;
    search.objective = request.objective;
    search.top = request.top;
    search.threads = request.threads;
    search.progress = [&](std::string_view step, double share) {
      if (line.is_due())
        line.show(fmt::format("{}: {:.0f} %", step, 100.0 * share));
    };
    result = search_plans(request.job.model, request.space, estimator.pricing(), search);
  }
  if (result.feasible == 0)
    refuse(request, result);
  PlanReport out;
  out.searched = result.searched;
  out.feasible = result.feasible;
  out.evaluated = result.evaluated;
  for (const FoundPlan& found : result.best)
    out.best.push_back(row_of(request, estimator, found.plan));
  for (const FoundPlan& found : result.frontier)
    out.frontier.push_back(row_of(request, estimator, found.plan));
  if (request.given)
    out.given = row_of(request, estimator, *request.given);
  out.request = std::move(request);
  return out;
}

int plan_verb(const PlanArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  Diagnostics diagnostics;
  const PlanReport report =
      search(read_plan_request(arguments, catalogue, diagnostics), catalogue, flags, diagnostics);
  show_warnings(diagnostics, flags);
  std::fputs(render(report, flags.format).c_str(), stdout);
  return 0;
}

} // namespace

void add_plan(CommandLine& command) {
  const auto arguments = std::make_shared<PlanArguments>();
  Verb& verb = command.verb("plan", "Search the best parallel plans of a training job: time, cost, memory");
  verb.positional("JOB", arguments->file,
                  "a job file (YAML) whose plan may have lists; flags are set over it")
      .option("--gpus N", arguments->gpus, "plans on exactly so many GPUs")
      .option("--max-gpus N", arguments->max_gpus, "plans on at most so many GPUs")
      .option("--objective WORD", arguments->objective, "time or cost (default: time)")
      .option("--top N", arguments->top, "how many plans to show (default: 10)")
      .option("--tokens T", arguments->tokens,
              "tokens of the training run, such as 270e9: gives days and cost")
      .option("--iterations N", arguments->iterations, "iterations of the training run, instead of tokens")
      .option("--price USD", arguments->price, "price of a GPU for an hour (default: the platform's)")
      .option("--node-mtbf TIME", arguments->node_mtbf,
              "mean time between failures of a node, such as 60d: counts checkpoints and lost work")
      .option("--checkpoint-write TIME", arguments->checkpoint_write,
              "what writing a checkpoint takes (default: 60s)")
      .option("--restart TIME", arguments->restart, "from a failure to the next iteration (default: 5min)")
      .option("--from-megatron FILE", arguments->megatron,
              "explain the plan of a Megatron-LM script beside the best one")
      .option("-j,--threads N", arguments->threads, "threads (default: all cores); they change nothing else");
  arguments->job.add_to(verb, PlanFlags::search);
  verb.example("vtrain plan --model gpt3-175b --platform dgx-a100-80g --gpus 1024 --global-batch 1536")
      .example("vtrain plan --model mt-nlg-530b --platform dgx-a100-80g --max-gpus 3360 --global-batch 1920 "
               "--tokens 270e9 --objective cost")
      .example("vtrain plan --from-megatron pretrain.sh --platform dgx-h100 --gpus 512")
      .action([arguments](const CommonFlags& flags) { return plan_verb(*arguments, flags); });
}

} // namespace vtrain
