// SPDX-License-Identifier: MIT
// Peak memory of each GPU that trains a model under a plan, and whether the GPU has it.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <vector>

namespace vtrain {

/// Memory of one GPU of a pipeline stage at its peak, by what holds it.
struct StageMemory {
  Bytes weights;   ///< 2 bytes a parameter; in fp8 the copy and the transposed copy that Hopper's GEMMs need
  Bytes gradients; ///< 4 bytes in bf16 (Megatron-LM adds up in fp32) below ZeRO-2; else 2
  Bytes optimizer; ///< 12 bytes: fp32 weights and the two moments of Adam
  Bytes activations; ///< what the forward passes of all micro-batches in flight keep
  Bytes logits;      ///< logits and loss of the last stage
  Bytes workspace;   ///< all that lives shorter, and what libraries take (see memory_per_gpu)
  Bytes slack;       ///< what PyTorch's caching allocator holds and cannot use

  [[nodiscard]] Bytes total() const;
};

/// The memory that a plan takes.
struct MemoryEstimate {
  std::vector<StageMemory> stages; ///< by pipeline stage
  std::int32_t worst_stage = 0;    ///< the first stage with the largest total
  Bytes peak;                      ///< its total
  Bytes capacity;                  ///< see usable_memory

  [[nodiscard]] bool fits() const { return peak <= capacity; }
  /// The share of the capacity that is left over; negative if the plan does not fit.
  [[nodiscard]] double margin() const { return (capacity - peak) / capacity; }
};

/// Memory of a plan that is possible (see plan_faults).
///
/// Model states are those of mixed-precision Adam: 16 bytes a parameter in fp16 (arXiv 1910.02054, section
/// 3.1), 18 in bf16 and fp8 (Megatron-LM), 16 again from ZeRO-2 on, where gradients are kept in the precision
/// of the weights (FSDP keeps fp32 gradients and no
/// 16-bit shard: as much). ZeRO 1, 2, 3 splits optimizer, gradients, weights over the shard group. With
/// cpu_offload the optimizer, and from ZeRO-2 on the gradients, are on the host (arXiv 2101.06840).
///
/// Activations: layer_activations for each layer and each micro-batch in flight, embedding dropout on the
/// first stage, norm and logits' input on the last (arXiv 2205.05198, section 4.3).
///
/// Workspace: what recomputation brings back for one layer and the gradients of its activations, as far as
/// the loss, which is over by then, did not take that much; ZeRO-3's gathered weights of two layers and of
/// what is outside layers, from ZeRO-2 on as many gradients; pipeline messages; fp16's fp32 copy of the
/// gradients at the optimizer's step, as far as it exceeds what the backward pass has freed; CUDA context,
/// cuBLAS and NCCL.
[[nodiscard]] MemoryEstimate memory_per_gpu(const ModelShape& model, const ParallelPlan& plan,
                                            const Gpu& gpu);

/// The peak alone, for searches over many plans: under 10 us at 105 stages.
[[nodiscard]] Bytes peak_memory(const ModelShape& model, const ParallelPlan& plan);

/// What a process can allocate of a GPU's memory. A data sheet's GB are GiB of DRAM, of which driver and
/// error correction keep about 1.5 % (a T4's keeps 7 %): PyTorch sees 79.1 to 79.4 GiB of an "80 GB" A100 or
/// H100, 39.4 of "40 GB", 139.8 of "141 GB". A whole number of GiB is taken as it is written.
[[nodiscard]] Bytes usable_memory(const Gpu& gpu);

} // namespace vtrain
