// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/memory.hpp"

#include "common/real.hpp"
#include "vtrain_core/estimate/layer_activations.hpp"
#include "vtrain_core/graph/element_bytes.hpp"
#include "vtrain_core/pipeline/schedule.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"
#include "vtrain_core/plan/stage_contents.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace vtrain {
namespace {

constexpr double kMebibyte = 1048576.0;
constexpr double kGibibyte = 1073741824.0;
constexpr double kGigabyte = 1e9;

constexpr double kOptimizer = 12.0; // bytes a parameter: fp32 weight, Adam's two moments
constexpr double kFp32 = 4.0;

// Bytes a logit. Megatron-LM casts 16-bit logits to fp32 and turns those into the softmax in place, which is
// kept until the backward pass. The fused loss that FlashAttention's library brings along keeps the logits,
// and its backward pass needs their gradient besides.
constexpr double kLossPlain = 6.0;
constexpr double kLossPlainKept = 4.0;
constexpr double kLossFused = 4.0;
constexpr double kLossFusedKept = 2.0;

// FSDP keeps two layers gathered, the one in use and the next one; their gradients go likewise.
constexpr double kGatheredLayers = 2.0;

// CUDA context with PyTorch's kernels; cuBLAS workspaces (32 MiB a stream on Hopper); buffers of one NCCL
// communicator: about 24 channels of 10 MiB.
constexpr double kContext = 512.0 * kMebibyte;
constexpr double kBlas = 64.0 * kMebibyte;
constexpr double kCommunicator = 256.0 * kMebibyte;

// Fragmentation. Shapes repeat from iteration to iteration, so that the allocator finds its blocks again;
// what remains are rounding (2 MiB) and odd gaps. A guess that the trained configurations of the tests allow.
constexpr double kSlack = 0.03;

constexpr double kUsable = 0.985;

double gradient_bytes(const ParallelPlan& plan) {
  return plan.zero >= 2 ? kElement : of(StackHabits{}.gradient_bytes, plan.precision);
}

double communicators(const ParallelPlan& plan) {
  return (plan.tensor > 1 ? 1.0 : 0.0) + (plan.context > 1 ? 1.0 : 0.0) + (plan.expert > 1 ? 1.0 : 0.0) +
         (plan.pipeline > 1 ? 1.0 : 0.0) + (plan.data > 1 ? 1.0 : 0.0);
}

/// Over how many ranks ZeRO splits what every data-parallel rank has a copy of.
double shard_ranks(const ParallelPlan& plan) {
  if (plan.zero == 0)
    return 1.0;
  return plan.shard_group > 0 ? plan.shard_group : 1.0 * plan.data * plan.context;
}

/// All chunks of a pipeline stage together.
std::vector<StageContents> contents_by_stage(const ModelShape& model, const ParallelPlan& plan) {
  std::vector<StageContents> chunks = stage_contents(model, plan);
  const auto count = static_cast<std::size_t>(plan.virtual_stages);
  if (count == 1)
    return chunks;
  std::vector<StageContents> stages(static_cast<std::size_t>(plan.pipeline));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    StageContents& stage = stages[i / count];
    stage.dense_layers += chunks[i].dense_layers;
    stage.mixture_layers += chunks[i].mixture_layers;
    stage.embedding = stage.embedding || chunks[i].embedding;
    stage.head = stage.head || chunks[i].head;
  }
  return stages;
}

/// Accounts for the stages of one plan. What stages have in common is computed once.
class StageAccountant {
public:
  StageAccountant(const ModelShape& model, const ParallelPlan& plan)
      : model_(model),
        plan_(plan),
        contents_(contents_by_stage(model, plan)),
        dense_(layer_activations(model, plan, false)),
        mixture_(model.moe ? layer_activations(model, plan, true) : LayerActivations{}),
        shards_(shard_ranks(plan)),
        expert_shards_(std::max(1.0, shards_ / plan.expert)),
        residual_(tokens_of_micro_batch(model, plan) * real(model.hidden) / sequence_split(plan)),
        loss_(tokens_of_micro_batch(model, plan) * real(padded_vocab(model, plan)) / plan.tensor) {}

  [[nodiscard]] StageMemory stage(std::int32_t index) const {
    const StageContents& contents = contents_[static_cast<std::size_t>(index)];
    const StageParameters parameters = stage_parameters(contents, model_, plan_);
    const int chunks_in_flight = pipeline::peak_in_flight(
        plan_.schedule, plan_.pipeline, static_cast<int>(plan_.micro_batches()), plan_.virtual_stages, index);
    StageMemory memory;
    put_states(parameters, memory);
    memory.activations = activations(contents, chunks_in_flight);
    memory.logits = logits(contents, chunks_in_flight);
    const Bytes running = memory.activations + std::max(memory.logits, Bytes(working_set(contents))) +
                          Bytes(gathered(contents) + messages());
    const Bytes peak = std::max(running, Bytes(step_copies(parameters)));
    const Bytes libraries(kContext + kBlas + kCommunicator * communicators(plan_));
    memory.workspace = peak - memory.activations - memory.logits + libraries;
    memory.slack = kSlack * peak;
    return memory;
  }

  /// Whether the stage before holds the same. It has at least as many micro-batches in flight, under every
  /// schedule, so it takes at least as much memory.
  [[nodiscard]] bool is_like_stage_before(std::int32_t index) const {
    return index > 0 &&
           contents_[static_cast<std::size_t>(index)] == contents_[static_cast<std::size_t>(index) - 1];
  }

private:
  /// Bytes of something with `bytes` for each parameter, split by ZeRO from stage `from` on.
  [[nodiscard]] double state(const StageParameters& parameters, double bytes, std::int32_t from) const {
    return plan_.zero >= from ? bytes * (parameters.dense / shards_ + parameters.expert / expert_shards_)
                              : bytes * (parameters.dense + parameters.expert);
  }

  void put_states(const StageParameters& parameters, StageMemory& memory) const {
    memory.weights = Bytes(state(parameters, kElement, 3));
    if (!plan_.cpu_offload || plan_.zero < 2)
      memory.gradients = Bytes(state(parameters, gradient_bytes(plan_), 2));
    if (!plan_.cpu_offload)
      memory.optimizer = Bytes(state(parameters, kOptimizer, 1));
  }

  /// Micro-batches in flight are counted by chunk; a chunk is taken for an even share of the stage.
  [[nodiscard]] Bytes activations(const StageContents& contents, int chunks_in_flight) const {
    const double in_flight = static_cast<double>(chunks_in_flight) / plan_.virtual_stages;
    Bytes bytes = in_flight * (contents.dense_layers * dense_.kept + contents.mixture_layers * mixture_.kept);
    if (contents.embedding && model_.biases) // models with biases are trained with dropout
      bytes += Bytes(in_flight * kMask * residual_);
    if (contents.head) // final norm's input, and its output, which the logit matrix reads
      bytes += Bytes(losses_in_flight(chunks_in_flight) * 2.0 * kElement * residual_);
    return bytes;
  }

  /// 1F1B turns round on the last stage after each micro-batch, so that its last chunk has one in flight;
  /// GPipe and ZB-H1 (whose weight gradients wait) hold as many losses as layers.
  [[nodiscard]] double losses_in_flight(int chunks_in_flight) const {
    return plan_.virtual_stages > 1 ? 1.0 : chunks_in_flight;
  }

  [[nodiscard]] Bytes logits(const StageContents& contents, int chunks_in_flight) const {
    if (!contents.head)
      return {};
    const bool fused = plan_.attention == AttentionKernel::flash;
    const double kept =
        (losses_in_flight(chunks_in_flight) - 1.0) * (fused ? kLossFusedKept : kLossPlainKept);
    return Bytes(loss_ * (kept + (fused ? kLossFused : kLossPlain)));
  }

  /// The backward pass of the layer that needs most.
  [[nodiscard]] double working_set(const StageContents& contents) const {
    const Bytes dense = contents.dense_layers > 0 ? dense_.recomputed + dense_.gradients : Bytes{};
    const Bytes mixture = contents.mixture_layers > 0 ? mixture_.recomputed + mixture_.gradients : Bytes{};
    return std::max(dense, mixture).base();
  }

  /// Weights that ZeRO-3 has gathered, and gradients that ZeRO-2 and 3 have not yet split.
  [[nodiscard]] double gathered(const StageContents& contents) const {
    if (plan_.zero < 2 || shards_ == 1.0)
      return 0.0;
    const auto parameters = [&](const StageContents& part) {
      const StageParameters held = stage_parameters(part, model_, plan_);
      return held.dense + held.expert;
    };
    const double dense = contents.dense_layers > 0 ? parameters({.dense_layers = 1}) : 0.0;
    const double mixture = contents.mixture_layers > 0 ? parameters({.mixture_layers = 1}) : 0.0;
    const double layers = std::min(kGatheredLayers, 1.0 * contents.dense_layers + contents.mixture_layers);
    const double outside = parameters({.embedding = contents.embedding, .head = contents.head});
    return (plan_.zero >= 3 ? 2.0 : 1.0) * kElement * (layers * std::max(dense, mixture) + outside);
  }

  /// One activation and one gradient on their way.
  [[nodiscard]] double messages() const { return plan_.pipeline > 1 ? 2.0 * kElement * residual_ : 0.0; }

  /// Mixed-precision Adam in fp16 casts the gradients to fp32 for its step (Megatron-LM: 20 bytes a parameter
  /// then).
  [[nodiscard]] double step_copies(const StageParameters& parameters) const {
    return plan_.precision == Precision::fp16 && !plan_.cpu_offload ? state(parameters, kFp32, 1) : 0.0;
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  std::vector<StageContents> contents_;
  LayerActivations dense_;
  LayerActivations mixture_;
  double shards_;        ///< ranks that ZeRO splits parameters over
  double expert_shards_; ///< the same for experts
  double residual_;      ///< elements of the residual stream of a micro-batch on one GPU
  double loss_;          ///< logits of a micro-batch on one GPU
};

} // namespace

Bytes StageMemory::total() const {
  return weights + gradients + optimizer + activations + logits + workspace + slack;
}

MemoryEstimate memory_per_gpu(const ModelShape& model, const ParallelPlan& plan, const Gpu& gpu) {
  const StageAccountant accountant(model, plan);
  MemoryEstimate estimate;
  estimate.capacity = usable_memory(gpu);
  estimate.stages.reserve(static_cast<std::size_t>(plan.pipeline));
  for (std::int32_t index = 0; index < plan.pipeline; ++index) {
    estimate.stages.push_back(accountant.stage(index));
    if (const Bytes total = estimate.stages.back().total(); total > estimate.peak) {
      estimate.peak = total;
      estimate.worst_stage = index;
    }
  }
  return estimate;
}

Bytes peak_memory(const ModelShape& model, const ParallelPlan& plan) {
  const StageAccountant accountant(model, plan);
  Bytes peak;
  for (std::int32_t index = 0; index < plan.pipeline; ++index)
    if (!accountant.is_like_stage_before(index))
      peak = std::max(peak, accountant.stage(index).total());
  return peak;
}

Bytes usable_memory(const Gpu& gpu) {
  const double bytes = gpu.memory.base();
  const bool is_binary = std::fmod(bytes, kGibibyte) == 0.0;
  return Bytes(kUsable * (is_binary ? bytes : bytes / kGigabyte * kGibibyte));
}

} // namespace vtrain
