// SPDX-License-Identifier: MIT
#include "vtrain_core/search/plan_space.hpp"

#include "vtrain_core/plan/check_plan.hpp"

#include <algorithm>

namespace vtrain {
namespace {

constexpr std::int64_t kLargestMicroBatch = 16;
constexpr std::int64_t kFewestTokens = 4096; // of a context-parallel rank
constexpr std::int32_t kShareOfUnevenness = 4;

std::int64_t round_up_division(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Divisors of `value` up to `most`, ascending.
template <class T> std::vector<T> divisors(std::int64_t value, std::int64_t most) {
  std::vector<T> out;
  for (std::int64_t i = 1; i <= std::min(value, most); ++i)
    if (value % i == 0)
      out.push_back(static_cast<T>(i));
  return out;
}

std::vector<std::int32_t> powers_of_two(std::int64_t most) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 1; i <= std::max<std::int64_t>(most, 1); i *= 2)
    out.push_back(static_cast<std::int32_t>(i));
  return out;
}

std::vector<std::int32_t> count_to(std::int64_t most) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 1; i <= most; ++i)
    out.push_back(static_cast<std::int32_t>(i));
  return out;
}

/// Walks through the space, outer settings first. Combinations are cut off as soon as they have too many
/// GPUs; the rest is for plan_faults to judge.
class Enumerator {
public:
  Enumerator(const ModelShape& model, const NodeType& node, const PlanSpace& space)
      : model_(model), node_(node), space_(space), plan_(space.base) {
    most_gpus_ = space.gpu_counts.empty() ? space.most_gpus : space.gpu_counts.back();
    replicas_ =
        within(space.data.empty() ? divisors<std::int32_t>(space.base.global_batch, most_gpus_) : space.data);
  }

  std::vector<PlanChoice> run() {
    for (const std::int32_t tensor : tensors()) {
      choice_.tensor = tensor;
      for (const bool sequence_parallel : sequence_parallelisms()) {
        choice_.sequence_parallel = sequence_parallel;
        add_contexts();
      }
    }
    return std::move(out_);
  }

private:
  [[nodiscard]] std::vector<std::int32_t> tensors() const {
    return within(space_.tensor.empty() ? divisors<std::int32_t>(model_.heads, 2 * node_.gpus.value())
                                        : space_.tensor);
  }
  [[nodiscard]] std::vector<std::int32_t> contexts() const {
    return within(space_.context.empty() ? powers_of_two(model_.sequence_length / kFewestTokens)
                                         : space_.context);
  }
  /// Degrees that need no more GPUs than there may be, so that products of a few of them fit 64 bits.
  [[nodiscard]] std::vector<std::int32_t> within(std::vector<std::int32_t> degrees) const {
    std::erase_if(degrees, [&](std::int32_t degree) { return degree > most_gpus_; });
    return degrees;
  }
  [[nodiscard]] std::vector<std::int32_t> experts() const {
    if (!space_.expert.empty())
      return space_.expert;
    return model_.moe ? divisors<std::int32_t>(model_.moe->experts, most_gpus_)
                      : std::vector<std::int32_t>{1};
  }

  [[nodiscard]] std::vector<bool> sequence_parallelisms() const {
    if (!space_.sequence_parallel.empty())
      return space_.sequence_parallel;
    return choice_.tensor == 1 ? std::vector<bool>{false} : std::vector<bool>{false, true};
  }

  void add_contexts() {
    for (const std::int32_t context : contexts()) {
      choice_.context = context;
      for (const std::int32_t expert : experts()) {
        choice_.expert = expert;
        add_pipelines();
      }
    }
  }

  void add_pipelines() {
    const std::int64_t most = most_gpus_ / (std::int64_t{choice_.tensor} * choice_.context);
    const std::vector<std::int32_t> pipelines = within(
        space_.pipeline.empty() ? count_to(std::min<std::int64_t>(model_.layers, most)) : space_.pipeline);
    for (const std::int32_t pipeline : pipelines) {
      choice_.pipeline = pipeline;
      const std::vector<std::int32_t> chunks =
          space_.virtual_stages.empty() ? count_to(model_.layers / pipeline) : space_.virtual_stages;
      for (const std::int32_t virtual_stages : chunks) {
        choice_.virtual_stages = virtual_stages;
        const bool is_given = !space_.pipeline.empty() && !space_.virtual_stages.empty();
        if (std::int64_t{pipeline} * virtual_stages <= model_.layers &&
            (pipeline > 1 || virtual_stages == 1) && (is_given || is_even(model_, pipeline, virtual_stages)))
          add_replicas();
      }
    }
  }

  void add_replicas() {
    const std::int64_t gpus_of_replica = std::int64_t{choice_.tensor} * choice_.context * choice_.pipeline;
    for (const std::int32_t data : replicas_) {
      const std::int64_t gpus = gpus_of_replica * data;
      if (gpus > most_gpus_ ||
          (!space_.gpu_counts.empty() && !std::ranges::binary_search(space_.gpu_counts, gpus)))
        continue;
      choice_.data = data;
      add_micro_batches();
    }
  }

  void add_micro_batches() {
    const std::vector<std::int64_t> sizes =
        space_.micro_batch.empty()
            ? divisors<std::int64_t>(space_.base.global_batch / choice_.data, kLargestMicroBatch)
            : space_.micro_batch;
    for (const std::int64_t size : sizes) {
      choice_.micro_batch = static_cast<std::int32_t>(size);
      for (const Recompute recompute : recomputes()) {
        choice_.recompute = recompute;
        for (const std::int32_t zero : zeros()) {
          choice_.zero = static_cast<std::int8_t>(zero);
          add();
          if (choice_.data * choice_.context == 1)
            break; // nothing to split
        }
      }
    }
  }

  [[nodiscard]] const std::vector<Recompute>& recomputes() const {
    static const std::vector<Recompute> plain{Recompute::none, Recompute::selective, Recompute::full};
    static const std::vector<Recompute> flash{Recompute::none, Recompute::full};
    if (!space_.recompute.empty())
      return space_.recompute;
    return space_.base.attention == AttentionKernel::plain ? plain : flash;
  }
  [[nodiscard]] const std::vector<std::int32_t>& zeros() const {
    static const std::vector<std::int32_t> all{0, 1, 2, 3};
    return space_.zero.empty() ? all : space_.zero;
  }

  void add() {
    apply(choice_, space_, plan_);
    if (plan_faults(model_, plan_, node_.gpu).empty())
      out_.push_back(choice_);
  }

  const ModelShape& model_;
  const NodeType& node_;
  const PlanSpace& space_;
  ParallelPlan plan_;
  PlanChoice choice_;
  std::int64_t most_gpus_ = 1;
  std::vector<std::int32_t> replicas_;
  std::vector<PlanChoice> out_;
};

} // namespace

bool is_even(const ModelShape& model, std::int32_t pipeline, std::int32_t virtual_stages) {
  const std::int64_t parts = std::int64_t{pipeline} * virtual_stages;
  const std::int64_t fullest = round_up_division(model.layers, parts) * virtual_stages;
  // fullest <= 5/4 layers / pipeline
  return fullest * pipeline * kShareOfUnevenness <= model.layers * (kShareOfUnevenness + 1);
}

std::vector<PlanChoice> enumerate_plans(const ModelShape& model, const NodeType& node,
                                        const PlanSpace& space) {
  return Enumerator(model, node, space).run();
}

void apply(const PlanChoice& choice, const PlanSpace& space, ParallelPlan& plan) {
  plan.tensor = choice.tensor;
  plan.sequence_parallel = choice.sequence_parallel;
  plan.context = choice.context;
  plan.expert = choice.expert;
  plan.pipeline = choice.pipeline;
  plan.virtual_stages = choice.virtual_stages;
  plan.data = choice.data;
  plan.micro_batch = choice.micro_batch;
  plan.recompute = choice.recompute;
  plan.zero = choice.zero;
  plan.schedule = choice.virtual_stages > 1 ? pipeline::ScheduleKind::interleaved : space.base.schedule;
}

} // namespace vtrain
