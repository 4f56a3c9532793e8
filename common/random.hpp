// SPDX-License-Identifier: MIT
// Named, counter-based random streams: the draw number n of the stream "arrivals" under seed 7 is the same
// on any machine and does not depend on what other streams were used for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace vtrain {

/// One block of Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11).
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

/// A sequence of random numbers. Copy it to fork the sequence; equal streams give equal draws.
class RandomStream {
public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 64 uniform bits.
  [[nodiscard]] std::uint64_t bits();
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform();
  /// Uniform in [low, high).
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform integer in [0, bound), without modulo bias; `bound` > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Exponential with mean `mean` > 0.
  [[nodiscard]] double exponential(double mean);
  /// Standard normal (Box-Muller; two uniform draws for each number, so that the count of draws is fixed).
  [[nodiscard]] double normal();
  /// exp(mu + sigma * normal()).
  [[nodiscard]] double lognormal(double mu, double sigma);
  /// Index drawn with probability weight[i] / sum(weights); the weights are not negative, their sum is > 0.
  [[nodiscard]] std::size_t weighted(std::span<const double> weights);

private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  unsigned left_ = 0; ///< 64-bit words of `buffer_` not handed out yet (0..2)
};

/// Makes streams by name. The stream of a name depends on the seed and the name alone.
class RandomStreams {
public:
  explicit RandomStreams(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] RandomStream stream(std::string_view name) const;
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

private:
  std::uint64_t seed_;
};

} // namespace vtrain
