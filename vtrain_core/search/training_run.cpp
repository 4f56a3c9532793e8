// SPDX-License-Identifier: MIT
#include "vtrain_core/search/training_run.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain {

std::int64_t iterations_for(double tokens, std::int64_t global_batch, const ModelShape& model) {
  const double in_one = static_cast<double>(global_batch) * static_cast<double>(model.sequence_length);
  return static_cast<std::int64_t>(std::ceil(tokens / in_one));
}

Seconds checkpoint_interval(Seconds checkpoint_write, Seconds mtbf) {
  if (checkpoint_write >= 2.0 * mtbf)
    return mtbf;
  const double ratio = checkpoint_write / (2.0 * mtbf);
  const Seconds first_order = 2.0 * mtbf * std::sqrt(ratio);
  return first_order * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - checkpoint_write;
}

TrainingRun training_run(Seconds iteration, std::int64_t iterations, std::int64_t gpus, const NodeType& node,
                         const std::optional<Reliability>& reliability) {
  TrainingRun out;
  const Seconds work = iteration * static_cast<double>(iterations);
  out.wall = work;
  if (reliability) {
    const std::int64_t nodes = (gpus + node.gpus.value() - 1) / node.gpus.value();
    const Seconds mtbf = reliability->node_mtbf / static_cast<double>(nodes);
    const Seconds interval = checkpoint_interval(reliability->checkpoint_write, mtbf);
    out.checkpoint_interval = interval;
    out.wall = mtbf * std::exp(reliability->restart / mtbf) *
               std::expm1((interval + reliability->checkpoint_write) / mtbf) * (work / interval);
    if (work > Seconds{})
      out.useful_share = work / out.wall;
  }
  out.gpu_hours = out.wall / kHour * static_cast<double>(gpus);
  if (node.gpu_price)
    out.cost_usd = node.gpu_price->base() * out.wall.base() * static_cast<double>(gpus);
  return out;
}

} // namespace vtrain
