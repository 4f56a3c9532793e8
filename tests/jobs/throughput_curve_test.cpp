// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "jobs/throughput_curve.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

TEST_CASE("a curve sorts its levels by GPU count") {
  const ThroughputCurve curve(
      {{GpuCount(8), PerSecond(5.0)}, {GpuCount(1), PerSecond(1.0)}, {GpuCount(2), PerSecond(1.8)}});
  REQUIRE(curve.levels().size() == 3);
  CHECK(curve.levels()[0].gpus == GpuCount(1));
  CHECK(curve.levels()[1].gpus == GpuCount(2));
  CHECK(curve.levels()[2].gpus == GpuCount(8));
}

TEST_CASE("a curve answers only for the counts it has") {
  const ThroughputCurve curve({{GpuCount(8), PerSecond(5.0)}, {GpuCount(1), PerSecond(1.0)}});
  CHECK(curve.rate(GpuCount(1)) == PerSecond(1.0));
  CHECK(curve.rate(GpuCount(8)) == PerSecond(5.0));
  CHECK_FALSE(curve.rate(GpuCount(4)));
  CHECK_FALSE(curve.rate(GpuCount(16)));
  CHECK_FALSE(curve.rate(GpuCount(0)));
  CHECK_FALSE(ThroughputCurve().rate(GpuCount(1)));
}

TEST_CASE("a curve refuses a count twice and levels that are not positive") {
  CHECK_THROWS_AS(ThroughputCurve({{GpuCount(1), PerSecond(1.0)}, {GpuCount(1), PerSecond(2.0)}}),
                  InternalError);
  CHECK_THROWS_AS(ThroughputCurve({{GpuCount(0), PerSecond(1.0)}}), InternalError);
  CHECK_THROWS_AS(ThroughputCurve({{GpuCount(1), PerSecond(0.0)}}), InternalError);
}

TEST_CASE("a gang that is spread runs at the speed of the most GPUs on a node that it has everywhere") {
  const ThroughputLevel level{
      GpuCount(16), {PerSecond(8)}, {{4, {PerSecond(4)}}, {2, {PerSecond(2)}}, {1, {PerSecond(1)}}}};
  CHECK(level.at({}).rate == PerSecond(8));
  const auto spread = [&](std::int32_t fewest) {
    return level.at({.consolidated = false, .fewest_on_node = fewest}).rate;
  };
  CHECK(spread(8) == PerSecond(4));
  CHECK(spread(4) == PerSecond(4));
  CHECK(spread(3) == PerSecond(2));
  CHECK(spread(1) == PerSecond(1));
  const ThroughputLevel anywhere{GpuCount(16), {PerSecond(8)}};
  CHECK(anywhere.at({.consolidated = false, .fewest_on_node = 1}).rate == PerSecond(8));
}
