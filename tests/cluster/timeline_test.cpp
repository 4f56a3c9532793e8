// SPDX-License-Identifier: MIT
#include "cluster/timeline.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

TEST_CASE("a timeline holds time-weighted means in bins from its origin") {
  Timeline timeline(Seconds(100), Seconds(10));
  timeline.add(Seconds(105), {.queued = 0, .running = 1, .gpus_busy = 4});
  timeline.add(Seconds(115), {.queued = 2, .running = 1, .gpus_busy = 8});
  REQUIRE(timeline.bins() == 2);
  CHECK(timeline.bin_start(1).base() == 110.0);
  CHECK(timeline.mean(0).gpus_busy == doctest::Approx(6.0));
  CHECK(timeline.mean(0).queued == doctest::Approx(1.0));
  CHECK(timeline.mean(1).gpus_busy == doctest::Approx(8.0)); // a part of a bin counts for that part
}

TEST_CASE("bins double instead of growing in number, and the integral stays") {
  Timeline timeline(Seconds(0), Seconds(1));
  double integral = 0.0;
  for (int i = 1; i <= 100'000; ++i) {
    const double busy = i % 7;
    timeline.add(Seconds(i * 0.5), {.gpus_busy = busy});
    integral += busy * 0.5;
  }
  CHECK(timeline.bins() <= Timeline::kMaxBins);
  double sum = 0.0;
  for (std::size_t bin = 0; bin < timeline.bins(); ++bin)
    sum += timeline.mean(bin).gpus_busy *
           (std::min(timeline.end(), timeline.bin_start(bin + 1)) - timeline.bin_start(bin)).base();
  CHECK(sum == doctest::Approx(integral).epsilon(1e-12));
}

TEST_CASE("one long interval is spread over all its bins") {
  Timeline timeline(Seconds(0), Seconds(1));
  timeline.add(Seconds(1e9), {.gpus_busy = 3});
  CHECK(timeline.bins() <= Timeline::kMaxBins);
  CHECK(timeline.end().base() == 1e9);
  for (std::size_t bin = 0; bin < timeline.bins(); ++bin)
    CHECK(timeline.mean(bin).gpus_busy == doctest::Approx(3.0));
}
