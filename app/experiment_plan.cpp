// SPDX-License-Identifier: MIT
#include "app/experiment_plan.hpp"

#include "app/report/setup_text.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vtrain {

ResultTable plan_table(const Experiment& experiment, const Workload& workload) {
  using Column = ResultTable::Column;
  ResultTable table({Column{"setting", "", Column::Style::text}, Column{"value", "", Column::Style::text}});
  double gpu_seconds = 0.0;
  GpuCount widest;
  for (const Job& job : workload.jobs) {
    gpu_seconds += job.gpus.value() * job.duration.base();
    widest = std::max(widest, job.gpus);
  }
  const Seconds span = workload.jobs.back().submit - workload.jobs.front().submit;
  const double capacity = experiment.cluster.gpus().value() * span.base();
  const TraceFunnel& funnel = workload.funnel;
  table.add({"experiment", experiment.name});
  table.add({"trace", fmt::format("{} ({}), {} rows read, {} kept", funnel.file, funnel.format,
                                  funnel.rows_read, funnel.kept)});
  for (const TraceFunnel::Step& step : funnel.dropped)
    table.add(
        {"left out", fmt::format("{} {}: {}", step.rows, step.rows == 1 ? "row" : "rows", step.reason)});
  table.add({"jobs", fmt::format("{} over {}, widest {} GPUs, {:.0f} GPU-hours", workload.jobs.size(),
                                 human_seconds(span), widest.value(), gpu_seconds / kHour.base())});
  table.add({"cluster", fmt::format("{}: {} nodes, {} GPUs ({})", experiment.cluster.name,
                                    experiment.cluster.nodes.value(), experiment.cluster.gpus().value(),
                                    experiment.cluster.node.gpu.name)});
  table.add(
      {"offered load", capacity > 0.0 ? fmt::format("{:.2f}", gpu_seconds / capacity) : std::string("-")});
  const std::string options = experiment.choice(experiment.policy).options.describe();
  table.add({"policy", options.empty() ? experiment.policy : experiment.policy + " " + options});
  table.add({"placement", experiment.placement});
  table.add({"round", experiment.round ? format_seconds(*experiment.round) : std::string("none")});
  table.add({"information", "duration: " + experiment.information.describe()});
  const ConfigNode* switch_cost = experiment.effective.find("switch_cost");
  table.add({"switch cost", one_line(*switch_cost)});
  table.add({"until", experiment.until ? format_seconds(*experiment.until) : std::string("drain")});
  table.add({"measured jobs",
             fmt::format("submitted from {} to {} after the first", format_seconds(experiment.window.begin),
                         experiment.window.end ? format_seconds(*experiment.window.end) : "the end")});
  table.add({"seed", static_cast<std::int64_t>(experiment.seed)});
  return table;
}

} // namespace vtrain
