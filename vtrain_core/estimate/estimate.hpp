// SPDX-License-Identifier: MIT
// The answer: the time of one training iteration, where it goes, and what follows from it.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>

namespace vtrain {

/// Where the time of an iteration goes, on the stage of the pipeline that ends last. The parts add up to the
/// time.
struct Breakdown {
  Seconds forward;
  Seconds backward;
  Seconds recompute;
  Seconds tensor_comm;   ///< exposed collectives of the tensor-parallel group
  Seconds context_comm;  ///< of the context-parallel group
  Seconds expert_comm;   ///< of the expert-parallel group
  Seconds pipeline_comm; ///< what the iteration would be shorter if messages between stages were free
  Seconds data_comm;     ///< exposed gradient reductions and parameter gathers
  Seconds bubble;        ///< the stage waits for others
  Seconds optimizer;
  Seconds host;  ///< kernels that the host launches too slowly
  Seconds other; ///< fixed cost of an iteration: data loader, synchronisation, logging

  [[nodiscard]] Seconds total() const;
};

/// One iteration of a job.
struct IterationEstimate {
  Seconds time;
  Breakdown breakdown;
  std::int64_t gpus = 1;
  double mfu = 0; ///< model FLOPs / (time x GPUs x dense peak of the GEMM precision)
  double hfu = 0; ///< the same with recomputed FLOPs
  double tokens_per_s = 0;
  double scaled_share = 0;       ///< share of the compute time that was priced from a profile's neighbours
  double extrapolated_share = 0; ///< share that lies outside the range of the profile
};

} // namespace vtrain
