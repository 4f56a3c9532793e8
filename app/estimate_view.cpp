// SPDX-License-Identifier: MIT
#include "app/estimate_view.hpp"

#include "app/estimate_json.hpp"
#include "app/memory_advice.hpp"
#include "app/number_text.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "common/quantity_text.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

namespace vtrain {
namespace {

using Style = ResultTable::Column::Style;

constexpr double kLongestBar = 40.0; // characters of the largest share

/// "174.6 B": with the thousand's letter that people use for parameters and tokens.
std::string short_count(double count) {
  constexpr std::array<std::pair<double, const char*>, 4> kSteps{
      {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [size, letter] : kSteps)
    if (count >= size)
      return fmt::format("{:.4g}{}", count / size, letter);
  return human_number(count);
}

std::string seconds_text(Seconds time) {
  return human_number(time.base()) + " s";
}

std::string head_text(const JobEstimate& estimate) {
  const JobDescription& job = estimate.job;
  const std::string gpu = job.node.gpu.name;
  return fmt::format("{} ({} parameters) on {} x {} of {}: {}, global batch {}\n", printable(job.model.name),
                     short_count(total_parameters(job.model)), estimate.iteration.gpus, gpu,
                     printable(job.platform), describe(job.plan), job.plan.global_batch);
}

std::string memory_line(const MemoryEstimate& memory) {
  return fmt::format("{} of {} on the fullest GPU, of pipeline stage {}: {}", gibibytes(memory.peak),
                     gibibytes(memory.capacity), memory.worst_stage,
                     memory.fits() ? fmt::format("fits, {:.0f} % to spare", 100.0 * memory.margin())
                                   : std::string("does not fit"));
}

std::string figures_text(const JobEstimate& estimate) {
  constexpr double kTokens = 1e12;
  const IterationEstimate& iteration = estimate.iteration;
  std::string out = labelled_line(
      "iteration", fmt::format("{}, with 90 % between {} and {}", seconds_text(iteration.time),
                               seconds_text(estimate.interval.low), seconds_text(estimate.interval.high)));
  out += labelled_line("utilisation",
                       fmt::format("MFU {}, HFU {}, of {} TFLOP/s dense in {}", human_percent(iteration.mfu),
                                   human_percent(iteration.hfu), human_number(estimate.peak.base() / 1e12),
                                   to_string(estimate.job.plan.precision)));
  out += labelled_line("throughput",
                       fmt::format("{} tokens/s; 1e12 tokens take {}", short_count(iteration.tokens_per_s),
                                   human_seconds(Seconds(kTokens / iteration.tokens_per_s))));
  out += labelled_line("memory", memory_line(estimate.memory));
  out += labelled_line("calibration", printable(estimate.calibration));
  return out;
}

std::string breakdown_text(const JobEstimate& estimate) {
  const auto parts = breakdown_parts(estimate.iteration.breakdown);
  ResultTable table({{"part", "where the time goes", Style::text},
                     {"time_s", "s", Style::number},
                     {"share", "share", Style::percent},
                     {"bar", " ", Style::text}});
  Seconds most;
  for (const auto& [name, time] : parts)
    most = std::max(most, time);
  for (const auto& [name, time] : parts)
    if (time > Seconds{}) {
      const auto bar = static_cast<std::size_t>(std::ceil(kLongestBar * (time / most)));
      table.add({name, time.base(), time / estimate.iteration.time, std::string(bar, '#')});
    }
  return table.to_text();
}

std::string memory_text(const MemoryEstimate& memory) {
  const StageMemory& m = memory.stages.at(static_cast<std::size_t>(memory.worst_stage));
  const std::array<std::pair<const char*, Bytes>, 7> parts{{{"weights", m.weights},
                                                            {"gradients", m.gradients},
                                                            {"optimizer", m.optimizer},
                                                            {"activations", m.activations},
                                                            {"logits", m.logits},
                                                            {"workspace", m.workspace},
                                                            {"allocator's slack", m.slack}}};
  ResultTable table({{"part", fmt::format("memory of stage {}", memory.worst_stage), Style::text},
                     {"gib", "GiB", Style::number},
                     {"share", "of the GPU", Style::percent}});
  for (const auto& [name, size] : parts)
    if (size > Bytes{})
      table.add({name, std::round(size.base() / kGiB * 100.0) / 100.0, size / memory.capacity});
  return table.to_text();
}

std::string setting_text(const ConfigNode::Entry& entry) {
  const std::vector<ConfigNode>& items = entry.value.items;
  if (entry.value.kind != ConfigNode::Kind::sequence)
    return fmt::format("{} {}", entry.key, entry.value.scalar);
  const auto differs = [&](const ConfigNode& item) { return item.scalar != items.front().scalar; };
  if (items.size() > 1 && std::ranges::none_of(items, differs))
    return fmt::format("{} {} x {}", entry.key, items.size(), items.front().scalar);
  std::string text;
  for (const ConfigNode& item : items)
    text += " " + item.scalar;
  return entry.key + text;
}

std::string plan_text(const JobDescription& job) {
  ParallelPlan plan = job.plan;
  plan.stage_layers = layers_of_stages(job.model, plan);
  std::string text = fmt::format("sequence_length {}, stack {}", job.model.sequence_length, job.stack.name);
  for (const ConfigNode::Entry& entry : plan_to_config(plan).entries)
    text += ", " + setting_text(entry);
  return "the plan: " + wrapped(text, kProseColumns, 10);
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes)
    out += (out.empty() ? "to know:  " : "          ") + wrapped(printable(note), kProseColumns, 10);
  return out;
}

std::string estimate_text(const JobEstimate& estimate) {
  std::string out = head_text(estimate) + figures_text(estimate);
  out += "\n" + breakdown_text(estimate);
  out += "\n" + memory_text(estimate.memory);
  out += "\n" + plan_text(estimate.job);
  if (!estimate.notes.empty())
    out += "\n" + notes_text(estimate.notes);
  return out;
}

} // namespace

std::array<std::pair<const char*, Seconds>, 12> breakdown_parts(const Breakdown& b) {
  return {{{"forward", b.forward},
           {"backward", b.backward},
           {"recomputation", b.recompute},
           {"tensor communication", b.tensor_comm},
           {"context communication", b.context_comm},
           {"expert communication", b.expert_comm},
           {"pipeline communication", b.pipeline_comm},
           {"data communication", b.data_comm},
           {"pipeline bubble", b.bubble},
           {"optimizer", b.optimizer},
           {"host", b.host},
           {"other", b.other}}};
}

std::string render(const JobEstimate& estimate, OutputFormat format) {
  switch (format) {
  case OutputFormat::json: return estimate_json(estimate);
  case OutputFormat::csv: return estimate_csv(estimate);
  case OutputFormat::table: break;
  }
  return estimate_text(estimate);
}

} // namespace vtrain
