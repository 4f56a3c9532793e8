// SPDX-License-Identifier: MIT
// The iteration time by the rules of vTrain as it was released (arXiv 2312.12391; github.com/VIA-Research/
// vTrain, commit f8dda84), quirks included: a golden test for the task graph, and what `--compat vtrain`
// answers. Nothing here is a claim about real GPUs.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vtrain {

/// What vTrain profiles on one GPU: times of one micro-batch.
struct VtrainProfile {
  Seconds layer_forward{};
  Seconds layer_backward{};
  Seconds embedding_forward{};
  Seconds embedding_backward{};
  Seconds logit_forward{}; ///< with the loss
  Seconds logit_backward{};
  Seconds embedding_update{}; ///< weight updates, once an iteration
  Seconds logit_update{};
  Seconds layer_update{};
};

/// A job as vTrain describes it. Its vocabulary is 50,257, whatever the model's is.
struct VtrainConfig {
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t sequence_length = 1024;
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 1;
  std::int32_t tensor = 1;
  std::int32_t data = 1;
  std::int32_t pipeline = 1;

  /// Micro-batches of a data-parallel rank; samples that are left over are dropped.
  [[nodiscard]] std::int64_t micro_batches() const { return global_batch / data / micro_batch; }
};

/// vTrain's all-reduce: the table of one GPU model, read in whole MiB.
///
/// The size is rounded to MiB by Python's round(), which takes a tie to the even neighbour (0.5 MiB is 0 MiB,
/// 1.5 MiB are 2 MiB); std::nearbyint does the same in the default rounding mode. Sizes that the table has
/// cost its in-place time. All others cost size / bus bandwidth at 1 GiB: nothing below 0.5 MiB, and above
/// 1 GiB the ring's factor 2 (n - 1) / n is lost and a GB is 1024 MiB.
class VtrainAllReduce {
public:
  /// `measured` outlives this. vTrain ships tables of "A100" and "V100".
  explicit VtrainAllReduce(const MeasuredCollectives& measured, std::string_view gpu = "A100")
      : measured_(measured), gpu_(gpu) {}

  /// Whether so many ranks can be priced: one rank, or a table that reaches to 1 GiB.
  [[nodiscard]] bool has(std::int32_t ranks) const;
  /// `has(ranks)`; 0 for one rank.
  [[nodiscard]] Seconds time(std::int64_t bytes, std::int32_t ranks) const;
  [[nodiscard]] const std::string& gpu() const { return gpu_; }

private:
  [[nodiscard]] const AllReduceTable* table(std::int32_t ranks) const;

  const MeasuredCollectives& measured_;
  std::string gpu_;
};

/// One sentence (without a final full stop) that says why the rules have no answer; none if they have one.
[[nodiscard]] std::optional<std::string> vtrain_fault(const VtrainConfig& config,
                                                      const VtrainAllReduce& all_reduce);

/// The iteration time; the configuration has no vtrain_fault. It is the end of a task graph (see
/// task_graph.hpp) under vTrain's Algorithm 1:
/// - 1F1B, one GPU standing for a stage, embedding and logit added to the first and last stage; two
///   all-reduces of activations in each layer's forward and in its backward pass;
/// - messages hold the sender, at twice their size and a quarter of 800 Gb/s, where a Gb is 2^30 bits;
/// - each stage but the last recomputes its forward pass, embedding included, without all-reduces and before
///   it waits for the gradient;
/// - one all-reduce of a stage's gradients, 2 bytes a parameter, after the last backward pass of the stage
///   and of the first stage; weight updates begin when all of them are over.
[[nodiscard]] Seconds vtrain_iteration_time(const VtrainConfig& config, const VtrainProfile& profile,
                                            const VtrainAllReduce& all_reduce);

/// Bytes of gradients of one GPU of a stage with `layers` layers, as vTrain counts them: 16 bits, no norms'
/// shifts, quotients rounded down, the logit matrix beside the embedding even where they are tied.
struct VtrainStage {
  std::int64_t layers = 0;
  bool embedding = false;
  bool logit = false;
};
[[nodiscard]] std::int64_t vtrain_gradient_bytes(const VtrainConfig& config, const VtrainStage& stage);

} // namespace vtrain
