// SPDX-License-Identifier: MIT
#include "vtrain_core/cost/analytic_cost.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace vtrain {
namespace {
/// Output tiles of cuBLAS' kernels (CUTLASS documentation, "efficient GEMM") and their throughput relative to
/// the largest: a smaller tile reuses less of what it loads.
struct Tile {
  double rows;
  double columns;
  double speed;
};
constexpr std::array<Tile, 3> kTiles{{{256, 128, 1.0}, {128, 128, 0.92}, {128, 64, 0.82}}};
constexpr double kAlignment = 8; // elements; tensor cores take 16 bytes of 16-bit data at a time

bool aligned(double size) {
  return std::fmod(size, kAlignment) == 0.0;
}
} // namespace

AnalyticCost::AnalyticCost(const Gpu& gpu, const ConstantValues& constants)
    : rate_(gpu.peak_fp16 * constants[Constant::gemm_efficiency]),
      rate_fp8_(gpu.peak_fp8.value_or(gpu.peak_fp16) *
                (constants[Constant::gemm_efficiency] * constants[Constant::fp8_efficiency])),
      attention_rate_(gpu.peak_fp16 * constants[Constant::attention_efficiency]),
      bandwidth_(gpu.memory_bandwidth * constants[Constant::memory_efficiency]),
      multiprocessors_(gpu.multiprocessors),
      misaligned_gemm_(constants[Constant::misaligned_gemm]),
      misaligned_attention_(constants[Constant::misaligned_attention]) {}

Seconds AnalyticCost::gemm(const Operator& op) const {
  double filled = 0.0;
  for (const Tile& tile : kTiles) {
    const double tiles = std::ceil(op.m / tile.rows) * std::ceil(op.n / tile.columns) * op.batch;
    const double waves = std::ceil(tiles / multiprocessors_);
    filled = std::max(filled, tile.speed * tiles / (multiprocessors_ * waves));
  }
  Seconds compute = op.flops / ((op.low_precision ? rate_fp8_ : rate_) * filled);
  if (!aligned(op.n) || !aligned(op.k))
    compute = compute * (op.attention_core ? misaligned_attention_ : misaligned_gemm_);
  return std::max(compute, op.bytes / bandwidth_);
}

Seconds AnalyticCost::time(const Operator& op) const {
  switch (op.kind) {
  case OperatorKind::gemm: return gemm(op);
  case OperatorKind::attention: return std::max(op.flops / attention_rate_, op.bytes / bandwidth_);
  case OperatorKind::memory_bound: return op.bytes / bandwidth_;
  case OperatorKind::collective: break;
  }
  VTRAIN_ASSERT(false, "a collective is priced by Collectives");
  return {};
}

Price AnalyticCost::price(const Operator& op) const {
  return {time(op), PriceOrigin::analytic};
}

} // namespace vtrain
