// SPDX-License-Identifier: MIT
#include "app/memory_advice.hpp"

#include "app/number_text.hpp"
#include "app/plan_flags.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace vtrain {
namespace {

constexpr std::size_t kMostAlternatives = 4;
constexpr int kMostChanges = 6;

/// Doubles a degree at the cost of data parallelism, where that is even.
void double_degree(ParallelPlan& plan, std::int32_t ParallelPlan::*degree) {
  plan.*degree *= 2;
  if (plan.data % 2 == 0)
    plan.data /= 2;
}

/// The plans that one change makes, what costs the least time first.
std::vector<ParallelPlan> changes_of(const ParallelPlan& plan, const NodeType& node) {
  std::vector<ParallelPlan> out;
  const auto add = [&](bool applies, auto change) {
    if (!applies)
      return;
    ParallelPlan changed = plan;
    changed.stage_layers.clear(); // they were given for the old degrees
    change(changed);
    if (changed.pipeline == plan.pipeline)
      changed.stage_layers = plan.stage_layers;
    out.push_back(std::move(changed));
  };
  const std::int64_t copies = std::int64_t{plan.data} * plan.context;
  add(plan.attention == AttentionKernel::plain,
      [](ParallelPlan& p) { p.attention = AttentionKernel::flash; });
  add(plan.tensor > 1 && !plan.sequence_parallel, [](ParallelPlan& p) { p.sequence_parallel = true; });
  add(plan.zero == 0 && copies > 1, [](ParallelPlan& p) { p.zero = 1; });
  add(plan.recompute == Recompute::none, [](ParallelPlan& p) { p.recompute = Recompute::selective; });
  add(plan.micro_batch % 2 == 0, [](ParallelPlan& p) { p.micro_batch /= 2; });
  add(plan.recompute != Recompute::full, [](ParallelPlan& p) { p.recompute = Recompute::full; });
  add(plan.tensor * 2 <= node.gpus.value(), [](ParallelPlan& p) { double_degree(p, &ParallelPlan::tensor); });
  add(true, [](ParallelPlan& p) { double_degree(p, &ParallelPlan::pipeline); });
  add(plan.zero > 0 && plan.zero < 3 && plan.pipeline == 1 && copies > 1,
      [](ParallelPlan& p) { p.zero = 3; });
  return out;
}

} // namespace

std::string gibibytes(Bytes size) {
  return fmt::format("{:.1f} GiB", size.base() / kGiB);
}

std::string memory_advice(const ModelShape& model, const ParallelPlan& plan, const NodeType& node,
                          std::optional<std::int64_t> gpus) {
  const Bytes capacity = usable_memory(node.gpu);
  ParallelPlan current = plan;
  for (int step = 0; step < kMostChanges; ++step) {
    std::string fitting;
    std::size_t alternatives = 0;
    std::optional<ParallelPlan> best;
    Bytes least = peak_memory(model, current); // times what the GPUs become more by
    for (const ParallelPlan& changed : changes_of(current, node)) {
      if (!plan_faults(model, changed, node.gpu, gpus).empty())
        continue;
      const Bytes peak = peak_memory(model, changed);
      if (peak <= capacity && alternatives++ < kMostAlternatives)
        fitting += fmt::format("{}{}{} {}", fitting.empty() ? "" : ", ", flags_between(plan, changed),
                               fitting.empty() ? " would need" : "", gibibytes(peak));
      const Bytes price = peak * (static_cast<double>(changed.gpus()) / static_cast<double>(current.gpus()));
      if (price < least) {
        least = price;
        best = changed;
      }
    }
    if (!fitting.empty())
      return fitting;
    if (!best)
      break;
    current = *best;
  }
  return {};
}

} // namespace vtrain
