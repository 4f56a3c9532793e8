// SPDX-License-Identifier: MIT
#include "app/run.hpp"

#include "app/manifest.hpp"
#include "cluster/result_tables.hpp"
#include "schedulers/placement.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>

namespace vtrain {
namespace {

extern "C" void on_interrupt(int) {
  interrupt_flag().store(true, std::memory_order_relaxed);
}

Summary describe_run(const RunRequest& request) {
  const Experiment& experiment = request.experiment;
  Summary summary;
  summary.name = experiment.name;
  summary.policy = request.policy.name;
  summary.placement = experiment.placement;
  summary.information = "duration: " + experiment.information.describe();
  summary.options = experiment.choice(request.policy.name).effective;
  summary.seed = experiment.seed;
  summary.cluster = experiment.cluster;
  summary.funnel = request.workload.funnel;
  return summary;
}

Outcome simulate_policy(const RunRequest& request) {
  const Experiment& experiment = request.experiment;
  const Seconds first = request.workload.jobs.front().submit;
  const std::unique_ptr<Scheduler> scheduler =
      request.policy.make(experiment.choice(request.policy.name).options);
  const PlacementEntry& placement = *find_placement(experiment.placement);
  const std::unique_ptr<SimEngine> engine = make_simgrid_engine(experiment.cluster);
  return simulate(
      request.workload, experiment.cluster,
      {.policy = request.policy.name,
       .scheduler = *scheduler,
       .placement = placement.make == nullptr ? nullptr : placement.make(),
       .information = experiment.information,
       .switch_cost = experiment.switch_cost,
       .seed = experiment.seed,
       .options = {.round = experiment.round,
                   .until = experiment.until ? std::optional(first + *experiment.until) : std::nullopt,
                   .progress = request.progress,
                   .interrupt = &interrupt_flag()}},
      *engine);
}

/// JCT of the measured jobs that completed, in seconds.
std::vector<double> completion_times(const Outcome& outcome, const Workload& workload,
                                     const MeasuredWindow& window) {
  std::vector<double> out;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    if (const JobRun& run = outcome.state->runs[i];
        run.life.state() == JobState::completed &&
        window.contains(workload.jobs[i].submit - outcome.first_submit))
      out.push_back((*run.end - workload.jobs[i].submit).base());
  return out;
}

} // namespace

std::atomic<bool>& interrupt_flag() {
  static std::atomic<bool> flag{false};
  return flag;
}

void install_signal_handlers() {
  (void)interrupt_flag(); // constructed before a signal can come
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGHUP, on_interrupt);
  std::signal(SIGXFSZ, SIG_IGN);
}

RunResult simulate_and_write(const RunRequest& request,
                             const std::function<void(const std::string&, std::string_view)>& write) {
  const auto begin = std::chrono::steady_clock::now();
  Summary summary = describe_run(request);
  const Outcome outcome = simulate_policy(request);
  spdlog::debug("{}: {} events in {:.3f} s, {} policy calls", request.policy.name, outcome.events,
                outcome.engine_s, outcome.policy_calls);
  const MeasuredWindow& window = request.experiment.window;
  measure(summary, outcome, request.workload, request.experiment.cluster, window);
  const std::string config = config_yaml(request.experiment, request.policy.name);
  const std::string timeline = timeline_csv(outcome);
  write("jobs.csv", jobs_csv(outcome, request.workload, window));
  write("timeline.csv", timeline);
  write("summary.json", to_json(summary));
  write("config.yaml", config);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  spdlog::debug("{}: simulated, measured and written in {:.3f} s", request.policy.name, wall.count());
  write("manifest.json", manifest_json({.command_line = request.command_line,
                                        .config = config,
                                        .inputs = input_files(request.experiment, request.workload),
                                        .wall_s = wall.count(),
                                        .engine_s = outcome.engine_s,
                                        .events = outcome.events,
                                        .policy_calls = outcome.policy_calls,
                                        .interrupted = outcome.interrupted}));
  return {
      report_run(std::move(summary), config, timeline, completion_times(outcome, request.workload, window)),
      outcome.interrupted};
}

} // namespace vtrain
