// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/cost/analytic_cost.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// 100 multiprocessors, 100 TFLOP/s (400 in fp8), 1 TB/s; every efficiency is 1.
Gpu round_gpu() {
  Gpu gpu;
  gpu.name = "round";
  gpu.peak_fp16 = FlopsPerSecond(100e12);
  gpu.peak_fp8 = FlopsPerSecond(400e12);
  gpu.memory_bandwidth = BytesPerSecond(1e12);
  gpu.multiprocessors = 100;
  return gpu;
}

ConstantValues ideal() {
  ConstantValues constants;
  for (const Constant each : {Constant::gemm_efficiency, Constant::memory_efficiency,
                              Constant::attention_efficiency, Constant::fp8_efficiency})
    constants[each] = 1.0;
  return constants;
}

struct Sizes {
  double m;
  double n;
  double k;
  double batch = 1;
};

Operator gemm(Sizes size) {
  Operator op;
  op.kind = OperatorKind::gemm;
  op.m = size.m;
  op.n = size.n;
  op.k = size.k;
  op.batch = size.batch;
  op.flops = Flops(2 * size.m * size.n * size.k * size.batch);
  op.bytes = Bytes(2 * size.batch * (size.m * size.k + size.k * size.n + size.m * size.n));
  return op;
}

double seconds(const Operator& op, const ConstantValues& constants = ideal()) {
  return AnalyticCost(round_gpu(), constants).time(op).base();
}

/// The share of the peak that a compute-bound product reaches.
double share(Sizes size) {
  const Operator op = gemm(size);
  return op.flops.base() / 100e12 / seconds(op);
}

} // namespace

TEST_CASE("a product fills its waves of tiles") {
  // Tiles of 256 x 128: 10 x 10 are one wave of 100 multiprocessors.
  CHECK(share({2560, 1280, 8192}) == close_to(1.0));
  CHECK(share({2560, 2560, 8192}) == close_to(1.0)); // two waves
  // 10 x 15 are one wave and a half: 150 of 200; 128 x 128: 300 of 300 at 0.92 of the speed.
  CHECK(share({2560, 1920, 8192}) == close_to(0.92));
  // 10 x 19 of 200 beat 380 of 400 at 0.92.
  CHECK(share({2560, 2432, 8192}) == close_to(0.95));
  // 4 x 8 tiles of 256 x 128, 64 of 128 x 128, 128 (two waves) of 128 x 64: 0.32, 0.64 x 0.92, 0.64 x 0.82.
  CHECK(share({1024, 1024, 8192}) == close_to(0.64 * 0.92));
  // 2 x 4, 4 x 4, 4 x 8: 0.08, 0.16 x 0.92, 0.32 x 0.82.
  CHECK(share({512, 512, 8192}) == close_to(0.32 * 0.82));
  // A batch has the tiles of all its products: 25 x 4 x 1 tiles of 256 x 128.
  CHECK(share({1024, 128, 8192, 25}) == close_to(1.0));
}

TEST_CASE("a product that GPT-3's layer has takes the time that tiles by hand give on an A100") {
  // 2048 x 12288 x 12288: 8 x 96 = 768 tiles in 8 waves of 108 (864), 0.82 of 312 TFLOP/s.
  const double by_hand = 2.0 * 2048 * 12288 * 12288 / (312e12 * 0.82 * 768 / 864);
  const AnalyticCost cost(node_type("dgx-a100-80g").gpu, ConstantValues{});
  CHECK(cost.time(gemm({2048, 12288, 12288})).base() == close_to(by_hand).epsilon(1e-12));
  const Price price = cost.price(gemm({2048, 12288, 12288}));
  CHECK(price.time.base() == close_to(by_hand).epsilon(1e-12));
  CHECK(price.origin == PriceOrigin::analytic);
}

TEST_CASE("a product of few rows is as slow as the memory, one of many as the tensor cores") {
  const auto bytes_s = [](Sizes size) { return gemm(size).bytes.base() / 1e12; };
  // 100 FLOP a byte is where the two meet; m rows against a large matrix are about m FLOP a byte.
  for (const double rows : {1.0, 8.0, 32.0})
    CHECK(seconds(gemm({rows, 12800, 8192})) == close_to(bytes_s({rows, 12800, 8192})));
  for (const double rows : {256.0, 2560.0})
    CHECK(seconds(gemm({rows, 12800, 8192})) > bytes_s({rows, 12800, 8192}));
  CHECK(share({2560, 12800, 8192}) == close_to(1.0));
}

TEST_CASE("no operator beats the roofline of its GPU") {
  CaseDraw draw("roofline");
  for (int i = 0; i < 2000; ++i) {
    Operator op = gemm({std::floor(std::exp(draw.uniform(0, 10))), std::floor(std::exp(draw.uniform(0, 10))),
                        std::floor(std::exp(draw.uniform(0, 10))), std::floor(std::exp(draw.uniform(0, 5)))});
    op.low_precision = draw.coin();
    op.attention_core = draw.coin();
    const double peak = op.low_precision ? 400e12 : 100e12;
    const double time = seconds(op);
    CHECK(time >= op.bytes.base() / 1e12 * (1 - 1e-12));
    CHECK(time >= op.flops.base() / peak * (1 - 1e-12));
    Operator longer = op;
    longer.k += 8;
    longer.flops = Flops(2 * longer.m * longer.n * longer.k * longer.batch);
    longer.bytes = op.bytes + Bytes(2 * 8 * (op.m + op.n) * op.batch);
    CHECK(seconds(longer) > time);
  }
}

TEST_CASE("products whose n or k is no multiple of 8 are slower, in the attention more so") {
  ConstantValues constants = ideal();
  constants[Constant::misaligned_gemm] = 3.0;
  constants[Constant::misaligned_attention] = 20.0;
  ConstantValues harmless = ideal();
  harmless[Constant::misaligned_gemm] = 1.0;
  harmless[Constant::misaligned_attention] = 1.0;
  const auto slowdown = [&](Sizes size, bool core) {
    Operator op = gemm(size);
    op.attention_core = core;
    return seconds(op, constants) / seconds(op, harmless);
  };
  CHECK(slowdown({2560, 1280, 8192}, false) == 1.0);
  CHECK(slowdown({2559, 1280, 8192}, false) == 1.0); // rows do not matter
  CHECK(slowdown({2560, 1279, 8192}, false) == close_to(3));
  CHECK(slowdown({2560, 1280, 8191}, false) == close_to(3));
  CHECK(slowdown({2560, 1279, 8192}, true) == close_to(20));
  CHECK(slowdown({2560, 1280, 8192}, true) == 1.0);
  CHECK(slowdown({8, 12799, 8192}, false) == 1.0); // what the memory bounds is no slower
}

TEST_CASE("fp8 has its own peak and efficiency") {
  ConstantValues constants = ideal();
  constants[Constant::gemm_efficiency] = 0.5;
  constants[Constant::fp8_efficiency] = 0.8;
  Operator op = gemm({2560, 1280, 65536});
  CHECK(seconds(op, constants) == close_to(op.flops.base() / (0.5 * 100e12)));
  op.low_precision = true;
  CHECK(seconds(op, constants) == close_to(op.flops.base() / (0.5 * 0.8 * 400e12)));
}

TEST_CASE("attention and element-wise work are bound by their own efficiencies") {
  ConstantValues constants = ideal();
  constants[Constant::attention_efficiency] = 0.4;
  constants[Constant::memory_efficiency] = 0.5;
  Operator op;
  op.kind = OperatorKind::attention;
  op.flops = Flops(4e12);
  op.bytes = Bytes(1e9);
  CHECK(seconds(op, constants) == close_to(0.1));
  op.flops = Flops(1e6);
  CHECK(seconds(op, constants) == close_to(2e-3));
  op.kind = OperatorKind::memory_bound;
  op.bytes = Bytes(5e9);
  CHECK(seconds(op, constants) == close_to(10e-3));
}

TEST_CASE("a collective has no price among the compute operators") {
  Operator op;
  op.kind = OperatorKind::collective;
  CHECK_THROWS_AS((void)AnalyticCost(round_gpu(), ideal()).price(op), InternalError);
}

TEST_CASE("constants are found by name, and each is possible") {
  for (std::size_t i = 0; i < kConstants; ++i) {
    const ConstantInfo& info = constant_table()[i];
    CAPTURE(info.name);
    CHECK(find_constant(info.name) == static_cast<Constant>(i));
    CHECK(ConstantValues{}[static_cast<Constant>(i)] == info.value);
    CHECK(info.low <= info.value);
    CHECK(info.value <= info.high);
    CHECK(info.log_sigma >= 0);
    CHECK((info.log_sigma == 0 || info.value > 0)); // a logarithm is fitted
    CHECK_FALSE(info.meaning.empty());
  }
  CHECK(find_constant("gemm efficiency") == std::nullopt);
}
