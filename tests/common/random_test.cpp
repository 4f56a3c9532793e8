// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "common/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace vtrain;

namespace {
using Block = std::array<std::uint32_t, 4>;

struct Moments {
  double mean;
  double variance;
};
template <class Draw> Moments moments_of(Draw draw) {
  constexpr int kDraws = 200000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}
} // namespace

TEST_CASE("Philox gives the known answers of Random123") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the bits of a stream are its Philox blocks, two numbers a block") {
  RandomStream stream(0, 0);
  CHECK(stream.bits() == 0xe169c58d6627e8d5U);
  CHECK(stream.bits() == 0x9b00dbd8bc57ac4cU);
  const Block next = philox4x32({1, 0, 0, 0}, {0, 0});
  CHECK(stream.bits() == (std::uint64_t{next[1]} << 32 | next[0]));
}

TEST_CASE("a stream depends on the seed and its name alone") {
  const RandomStreams seven(7);
  RandomStream first = seven.stream("arrivals");
  RandomStream other = seven.stream("failures");
  for (int i = 0; i < 10; ++i)
    (void)other.bits();
  RandomStream second = RandomStreams(7).stream("arrivals");
  for (int i = 0; i < 100; ++i)
    CHECK(first.bits() == second.bits());
  CHECK(seven.seed() == 7);
}

TEST_CASE("a stream never changes between versions") {
  // A change of these numbers changes every published result.
  RandomStream stream = RandomStreams(7).stream("arrivals");
  CHECK(stream.bits() == 923509071995643520U);
  CHECK(stream.bits() == 14312457517443857930U);
}

TEST_CASE("different names and different seeds give different streams") {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const char* name : {"", "a", "b", "aa", "ab", "ba", "arrivals", "arrivals "})
      firsts.insert(RandomStreams(seed).stream(name).bits());
  CHECK(firsts.size() == 800);
}

TEST_CASE("a copied stream forks") {
  RandomStream stream(1, 1);
  (void)stream.bits();
  RandomStream fork = stream;
  for (int i = 0; i < 9; ++i)
    CHECK(stream.bits() == fork.bits());
}

TEST_CASE("uniform draws fill the interval from 0 to 1 evenly and stay below 1") {
  RandomStream stream(11, 0);
  std::array<int, 10> bins{};
  for (int i = 0; i < 100000; ++i) {
    const double x = stream.uniform();
    REQUIRE(x >= 0.0);
    REQUIRE(x < 1.0);
    ++bins[static_cast<std::size_t>(x * 10.0)];
  }
  double chi_squared = 0.0;
  for (const int count : bins)
    chi_squared += (count - 10000.0) * (count - 10000.0) / 10000.0;
  CHECK(chi_squared < 27.9); // 0.999 quantile of 9 degrees of freedom
  const Moments wide = moments_of([&] { return stream.uniform(-3.0, 5.0); });
  CHECK(wide.mean == doctest::Approx(1.0).epsilon(0.02));
}

TEST_CASE("below draws each integer under the bound equally often") {
  RandomStream stream(12, 0);
  std::array<int, 7> bins{};
  for (int i = 0; i < 70000; ++i)
    ++bins[stream.below(7)];
  double chi_squared = 0.0;
  for (const int count : bins)
    chi_squared += (count - 10000.0) * (count - 10000.0) / 10000.0;
  CHECK(chi_squared < 22.5); // 0.999 quantile of 6 degrees of freedom
  CHECK(stream.below(1) == 0);
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1; // half of all draws are turned down
  for (int i = 0; i < 100; ++i)
    CHECK(stream.below(huge) < huge);
}

TEST_CASE("exponential draws have their mean and its square as variance") {
  RandomStream stream(13, 0);
  const Moments moments = moments_of([&] {
    const double x = stream.exponential(30.0);
    REQUIRE(x >= 0.0);
    return x;
  });
  CHECK(moments.mean == doctest::Approx(30.0).epsilon(0.02));
  CHECK(moments.variance == doctest::Approx(900.0).epsilon(0.04));
}

TEST_CASE("normal draws have mean 0 and variance 1 and cost two uniform draws each") {
  RandomStream stream(14, 0);
  const Moments moments = moments_of([&] { return stream.normal(); });
  CHECK(std::abs(moments.mean) < 0.01);
  CHECK(moments.variance == doctest::Approx(1.0).epsilon(0.02));
  RandomStream a(15, 0);
  RandomStream b(15, 0);
  (void)a.normal();
  (void)b.bits();
  (void)b.bits();
  CHECK(a.bits() == b.bits());
}

TEST_CASE("a lognormal draw is the exponential of a normal one") {
  RandomStream a(16, 0);
  RandomStream b(16, 0);
  for (int i = 0; i < 10; ++i)
    CHECK(a.lognormal(2.0, 0.5) == std::exp(2.0 + 0.5 * b.normal()));
}

TEST_CASE("weighted draws follow the weights and never take a weight of zero") {
  RandomStream stream(17, 0);
  const std::vector<double> weights{0.0, 1.0, 0.0, 3.0, 0.0};
  std::array<int, 5> bins{};
  for (int i = 0; i < 40000; ++i)
    ++bins[stream.weighted(weights)];
  CHECK(bins[0] + bins[2] + bins[4] == 0);
  CHECK(bins[1] == doctest::Approx(10000).epsilon(0.05));
}

TEST_CASE("draws without a meaning are a programmer's mistake") {
  RandomStream stream(18, 0);
  const std::vector<double> nothing{0.0, 0.0};
  const std::vector<double> negative{2.0, -1.0};
  CHECK_THROWS_AS((void)stream.below(0), InternalError);
  CHECK_THROWS_AS((void)stream.exponential(0.0), InternalError);
  CHECK_THROWS_AS((void)stream.weighted({}), InternalError);
  CHECK_THROWS_AS((void)stream.weighted(nothing), InternalError);
  CHECK_THROWS_AS((void)stream.weighted(negative), InternalError);
}
