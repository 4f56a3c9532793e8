// SPDX-License-Identifier: MIT
// How one training job is laid out over GPUs: parallel degrees, micro-batches, recomputation, sharding,
// overlap.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/pipeline/schedule.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace vtrain {

/// What of the forward pass is computed again in the backward pass. selective: the attention core alone
/// (arXiv 2205.05198, section 5); full: the whole layer.
enum class Recompute : std::uint8_t { none, selective, full };
/// Element type of the matrix multiplications. fp8: GEMMs of the layers in fp8, all else in bf16.
enum class Precision : std::uint8_t { fp16, bf16, fp8 };
/// plain: scores, softmax and dropout are stored; flash: one fused kernel (arXiv 2205.14135).
enum class AttentionKernel : std::uint8_t { plain, flash };
/// One kind of parallelism, as the rank order names it.
enum class ParallelAxis : std::uint8_t { tensor, context, expert, data, pipeline };

[[nodiscard]] std::string_view to_string(Recompute value);
[[nodiscard]] std::string_view to_string(Precision value);
[[nodiscard]] std::string_view to_string(AttentionKernel value);
[[nodiscard]] std::string_view to_string(ParallelAxis value); ///< "tp", "cp", "ep", "dp", "pp"

/// A parallel plan. Defaults are Megatron-LM's. GPUs = tensor x context x pipeline x data; experts are spread
/// over `expert` ranks taken out of data x context.
struct ParallelPlan {
  std::int32_t tensor = 1;
  std::int32_t pipeline = 1;
  std::int32_t data = 1;
  std::int32_t context = 1;
  std::int32_t expert = 1;
  std::int32_t virtual_stages = 1; ///< model chunks of a pipeline stage; > 1 means the interleaved schedule
  bool sequence_parallel = false;  ///< norms and dropouts split along the sequence (arXiv 2205.05198)
  std::int64_t micro_batch = 1;    ///< samples of one forward pass of one data-parallel rank
  std::int64_t global_batch = 1;   ///< samples of one iteration
  /// Layers of each virtual stage in model order; empty: as even as possible (see layers_of_stages).
  std::vector<std::int32_t> stage_layers;
  pipeline::ScheduleKind schedule = pipeline::ScheduleKind::one_f_one_b;
  Recompute recompute = Recompute::none;
  /// ZeRO stage 0 .. 3: optimizer states, gradients, parameters are split over data-parallel ranks (arXiv
  /// 1910.02054). FSDP's FULL_SHARD is 3, SHARD_GRAD_OP is 2.
  std::int32_t zero = 0;
  std::int32_t shard_group = 0; ///< ranks over which ZeRO splits (hybrid sharding); 0: all of data x context
  bool cpu_offload = false;     ///< optimizer states and update live on the host (arXiv 2101.06840)
  Precision precision = Precision::bf16;
  AttentionKernel attention = AttentionKernel::flash;
  bool overlap_grad_reduce = false;  ///< gradients are reduced in buckets while the last backward pass runs
  bool overlap_param_gather = false; ///< ZeRO's parameter all-gather runs under the next forward pass
  bool overlap_tensor = false; ///< tensor-parallel collectives are cut up and overlapped with their GEMMs
  bool overlap_input_gradient =
      false; ///< the all-reduce of an input gradient runs beside the weight gradient's GEMM
  bool overlap_pipeline = false; ///< pipeline messages are sent asynchronously
  Bytes bucket{25.0 *
               1048576.0}; ///< size of a gradient bucket; PyTorch DDP's default (the first one is 1 MiB)
  /// Which axis varies fastest over consecutive ranks, first to last; Megatron-LM's order.
  std::array<ParallelAxis, 5> rank_order{ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::expert,
                                         ParallelAxis::data, ParallelAxis::pipeline};

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{tensor} * context * pipeline * data; }
  /// Micro-batches of a data-parallel rank; the division is exact in a valid plan.
  [[nodiscard]] std::int64_t micro_batches() const { return global_batch / data / micro_batch; }
};

} // namespace vtrain
