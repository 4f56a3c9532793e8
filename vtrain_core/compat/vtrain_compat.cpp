// SPDX-License-Identifier: MIT
#include "vtrain_core/compat/vtrain_compat.hpp"

#include "common/assert.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace vtrain {
namespace {

using pipeline::StreamKind;
using pipeline::TaskIndex;
using pipeline::TaskKind;

constexpr std::int64_t kVocab = 50257;
constexpr double kOneMebibyte = 1048576.0;
constexpr std::int64_t kLastMebibyte = 1024; ///< the largest size in vTrain's tables
constexpr double kOneGigabyte = 1e9;
constexpr double kMessageRate = 800.0 * 1073741824.0 / 8.0 / 4.0; ///< B/s
constexpr double kMessageFactor = 2.0;
constexpr std::int64_t kElementBytes = 2;       ///< bytes
constexpr std::int64_t kMostPasses = 4'000'000; ///< of stages; memory for each is about 100 bytes

/// The task graph of one iteration.
class VtrainGraph {
public:
  VtrainGraph(const VtrainConfig& config, const VtrainProfile& profile, const VtrainAllReduce& all_reduce)
      : config_(config),
        profile_(profile),
        all_reduce_(all_reduce),
        stage_layers_(config.layers / config.pipeline),
        activation_bytes_(kElementBytes * config.micro_batch * config.sequence_length * config.hidden),
        tensor_time_(all_reduce.time(activation_bytes_, config.tensor)),
        schedule_(pipeline::make_schedule(pipeline::ScheduleKind::one_f_one_b, config.pipeline,
                                          static_cast<int>(config.micro_batches()), 1)),
        micro_batches_(static_cast<std::size_t>(config.micro_batches())) {
    const auto passes = static_cast<std::size_t>(config.pipeline) * micro_batches_;
    forward_.resize(passes);
    backward_.resize(passes);
  }

  Seconds run() && {
    for (int stage = 0; stage < config_.pipeline; ++stage)
      add_passes(stage);
    connect_stages();
    std::vector<TaskIndex> done = last_;
    if (config_.data > 1)
      done = add_all_reduces();
    add_updates(done);
    const pipeline::TaskGraph<double> graph(config_.pipeline, pipeline::Messages::blocking, std::move(tasks_),
                                            dependencies_);
    return Seconds(pipeline::list_schedule(graph).makespan);
  }

private:
  [[nodiscard]] double layers() const { return static_cast<double>(stage_layers_); }
  [[nodiscard]] bool is_first(int stage) const { return stage == 0; }
  [[nodiscard]] bool is_last(int stage) const { return stage + 1 == config_.pipeline; }
  [[nodiscard]] Seconds message() const {
    return Seconds(kMessageFactor * static_cast<double>(activation_bytes_) / kMessageRate);
  }

  [[nodiscard]] Seconds forward(int stage) const {
    return layers() * (profile_.layer_forward + 2.0 * tensor_time_) +
           (is_first(stage) ? profile_.embedding_forward : Seconds(0)) +
           (is_last(stage) ? profile_.logit_forward : message());
  }
  [[nodiscard]] Seconds recompute(int stage) const {
    return layers() * profile_.layer_forward + (is_first(stage) ? profile_.embedding_forward : Seconds(0));
  }
  [[nodiscard]] Seconds backward(int stage) const {
    return layers() * (profile_.layer_backward + 2.0 * tensor_time_) +
           (is_first(stage) ? profile_.embedding_backward : message()) +
           (is_last(stage) ? profile_.logit_backward : Seconds(0));
  }
  [[nodiscard]] Seconds update(int stage) const {
    return layers() * profile_.layer_update + (is_first(stage) ? profile_.embedding_update : Seconds(0)) +
           (is_last(stage) ? profile_.logit_update : Seconds(0));
  }

  TaskIndex add(int stage, TaskKind kind, Seconds duration, std::int32_t micro_batch = 0) {
    tasks_.push_back({.duration = duration.base(),
                      .micro_batch = micro_batch,
                      .stage = static_cast<std::uint16_t>(stage),
                      .kind = kind,
                      .stream = kind == TaskKind::all_reduce ? StreamKind::data : StreamKind::compute});
    return static_cast<TaskIndex>(tasks_.size() - 1);
  }
  void depend(TaskIndex before, TaskIndex after) { dependencies_.push_back({before, after}); }

  [[nodiscard]] std::size_t pass(int stage, std::size_t micro_batch) const {
    return static_cast<std::size_t>(stage) * micro_batches_ + micro_batch;
  }

  /// The compute stream of a stage. Its own order makes recomputation come right before the backward pass,
  /// with nothing to wait for.
  void add_passes(int stage) {
    for (const pipeline::Operation& operation : schedule_.order[static_cast<std::size_t>(stage)]) {
      const std::size_t at = pass(stage, static_cast<std::size_t>(operation.micro_batch));
      if (operation.kind == pipeline::OperationKind::forward) {
        forward_[at] = add(stage, TaskKind::forward, forward(stage), operation.micro_batch);
        continue;
      }
      if (!is_last(stage))
        add(stage, TaskKind::forward, recompute(stage), operation.micro_batch);
      backward_[at] = add(stage, TaskKind::backward, backward(stage), operation.micro_batch);
    }
    last_.push_back(static_cast<TaskIndex>(tasks_.size() - 1));
  }

  void connect_stages() {
    for (int stage = 0; stage + 1 < config_.pipeline; ++stage)
      for (std::size_t i = 0; i < micro_batches_; ++i) {
        depend(forward_[pass(stage, i)], forward_[pass(stage + 1, i)]);
        depend(backward_[pass(stage + 1, i)], backward_[pass(stage, i)]);
      }
  }

  std::vector<TaskIndex> add_all_reduces() {
    std::vector<TaskIndex> reduced;
    for (int stage = 0; stage < config_.pipeline; ++stage) {
      const VtrainStage contents{stage_layers_, is_first(stage), is_last(stage)};
      const Seconds time = all_reduce_.time(vtrain_gradient_bytes(config_, contents), config_.data);
      reduced.push_back(add(stage, TaskKind::all_reduce, time));
      depend(last_[static_cast<std::size_t>(stage)], reduced.back());
      if (!is_first(stage))
        depend(last_.front(), reduced.back());
    }
    return reduced;
  }

  /// All updates wait for everything in `after`, by way of a task that takes no time.
  void add_updates(const std::vector<TaskIndex>& after) {
    const TaskIndex barrier = add(0, TaskKind::optimizer, Seconds(0));
    for (const TaskIndex before : after)
      depend(before, barrier);
    for (int stage = 0; stage < config_.pipeline; ++stage)
      depend(barrier, add(stage, TaskKind::optimizer, update(stage)));
  }

  const VtrainConfig& config_;
  const VtrainProfile& profile_;
  const VtrainAllReduce& all_reduce_;
  std::int64_t stage_layers_;
  std::int64_t activation_bytes_;
  Seconds tensor_time_; ///< one all-reduce of activations
  pipeline::Schedule schedule_;
  std::size_t micro_batches_;
  std::vector<pipeline::Task<double>> tasks_;
  std::vector<pipeline::Dependency> dependencies_;
  std::vector<TaskIndex> forward_;  ///< [stage, micro-batch]
  std::vector<TaskIndex> backward_; ///< likewise
  std::vector<TaskIndex> last_;     ///< last pass of each stage
};

/// The first number of a configuration that is below 1 or so large that counting overflows.
std::optional<std::string> out_of_range(const VtrainConfig& config) {
  struct Number {
    std::string_view name;
    std::int64_t value;
    std::int64_t most;
  };
  constexpr std::int64_t kMillion = 1'000'000;
  const std::array<Number, 8> numbers{{{"layers", config.layers, 10'000},
                                       {"hidden", config.hidden, kMillion},
                                       {"sequence_length", config.sequence_length, kMillion},
                                       {"micro_batch", config.micro_batch, kMillion},
                                       {"global_batch", config.global_batch, kMillion},
                                       {"tensor_parallel", config.tensor, kMillion},
                                       {"data_parallel", config.data, kMillion},
                                       {"pipeline_parallel", config.pipeline, kMillion}}};
  for (const Number& number : numbers)
    if (number.value < 1 || number.value > number.most)
      return fmt::format("{} must be between 1 and {}, not {}", number.name, number.most, number.value);
  return std::nullopt;
}

} // namespace

const AllReduceTable* VtrainAllReduce::table(std::int32_t ranks) const {
  return measured_.all_reduce(gpu_, ranks);
}

bool VtrainAllReduce::has(std::int32_t ranks) const {
  const AllReduceTable* const measured = table(ranks);
  return ranks == 1 ||
         (measured != nullptr && measured->find(Bytes(kLastMebibyte * kOneMebibyte)) != nullptr);
}

Seconds VtrainAllReduce::time(std::int64_t bytes, std::int32_t ranks) const {
  if (ranks == 1)
    return {};
  VTRAIN_ASSERT(has(ranks), "an all-reduce that was not measured");
  const double mebibytes = std::nearbyint(static_cast<double>(bytes) / kOneMebibyte);
  if (const AllReduceSample* const sample = table(ranks)->find(Bytes(mebibytes * kOneMebibyte)))
    return sample->in_place;
  const AllReduceSample* const last = table(ranks)->find(Bytes(kLastMebibyte * kOneMebibyte));
  const double gigabytes_per_s = last->bus_bandwidth.base() / kOneGigabyte;
  return Seconds(mebibytes / (gigabytes_per_s * 1024.0));
}

std::int64_t vtrain_gradient_bytes(const VtrainConfig& config, const VtrainStage& stage) {
  const std::int64_t h = config.hidden;
  const std::int64_t t = config.tensor;
  const std::int64_t norms = 4 * h;
  const std::int64_t qkv = 3 * h * (h / t) + 3 * h / t;
  const std::int64_t projection = h * (h / t) + h;
  const std::int64_t ffn = h * (4 * h / t) + 4 * h / t + 4 * h * (h / t) + h;
  const std::int64_t vocabulary = kVocab / t * h;
  return kElementBytes *
         (stage.layers * (norms + qkv + projection + ffn) +
          (stage.embedding ? vocabulary + config.sequence_length * h : 0) + (stage.logit ? vocabulary : 0));
}

std::optional<std::string> vtrain_fault(const VtrainConfig& config, const VtrainAllReduce& all_reduce) {
  if (std::optional<std::string> wrong = out_of_range(config))
    return wrong;
  if (config.layers % config.pipeline != 0)
    return fmt::format("{} layers cannot be divided into {} stages", config.layers, config.pipeline);
  if (config.micro_batches() < 1)
    return fmt::format("global batch {} is less than data_parallel {} x micro_batch {}", config.global_batch,
                       config.data, config.micro_batch);
  if (config.micro_batches() * config.pipeline > kMostPasses)
    return fmt::format("{} stages with {} micro-batches make too large a graph", config.pipeline,
                       config.micro_batches());
  if (config.hidden < config.tensor || kVocab < config.tensor)
    return fmt::format("hidden size {} cannot be divided over {} tensor-parallel ranks", config.hidden,
                       config.tensor);
  for (const std::int32_t ranks : {config.tensor, config.data})
    if (!all_reduce.has(ranks))
      return fmt::format("the table of collectives has no all-reduce of 1 GiB over {} GPUs of {}", ranks,
                         all_reduce.gpu());
  return std::nullopt;
}

Seconds vtrain_iteration_time(const VtrainConfig& config, const VtrainProfile& profile,
                              const VtrainAllReduce& all_reduce) {
  const std::optional<std::string> fault = vtrain_fault(config, all_reduce);
  VTRAIN_ASSERT(!fault, *fault);
  return VtrainGraph(config, profile, all_reduce).run();
}

} // namespace vtrain
