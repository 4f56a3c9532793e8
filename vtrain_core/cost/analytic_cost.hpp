// SPDX-License-Identifier: MIT
// The analytic cost model: a roofline with tile and wave quantisation.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/cost/cost_model.hpp"

namespace vtrain {

/// GEMM: max(FLOPs / (peak x gemm_efficiency x q), bytes / (bandwidth x memory_efficiency)). q is the filled
/// share of the waves of tiles over the multiprocessors, times the tile's relative speed, for the best of
/// three tile sizes; a product whose n or k is no multiple of 8 costs misaligned_gemm, in the attention
/// misaligned_attention. fp8 GEMMs reach fp8_efficiency of that against the fp8 peak. Attention: FLOPs /
/// (16-bit peak x attention_efficiency). Memory-bound operators: bytes / (bandwidth x memory_efficiency).
class AnalyticCost final : public CostModel {
public:
  AnalyticCost(const Gpu& gpu, const ConstantValues& constants);
  [[nodiscard]] Price price(const Operator& op) const override;
  [[nodiscard]] Seconds time(const Operator& op) const;

private:
  [[nodiscard]] Seconds gemm(const Operator& op) const;

  FlopsPerSecond rate_;     ///< attainable by 16-bit GEMMs
  FlopsPerSecond rate_fp8_; ///< attainable by fp8 GEMMs
  FlopsPerSecond attention_rate_;
  BytesPerSecond bandwidth_;
  double multiprocessors_;
  double misaligned_gemm_;
  double misaligned_attention_;
};

} // namespace vtrain
