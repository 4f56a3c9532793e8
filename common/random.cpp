// SPDX-License-Identifier: MIT
#include "common/random.hpp"

#include "common/assert.hpp"

#include <cmath>
#include <numbers>

namespace vtrain {
namespace {

constexpr std::uint32_t low_half(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high_half(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// FNV-1a, then the finaliser of splitmix64: FNV alone leaves names that differ in one letter close together.
std::uint64_t stable_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3U;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31);
}

} // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {high_half(second) ^ counter[1] ^ key[0], low_half(second),
               high_half(first) ^ counter[3] ^ key[1], low_half(first)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

std::uint64_t RandomStream::bits() {
  if (left_ == 0) {
    buffer_ = philox4x32({low_half(block_), high_half(block_), low_half(stream_), high_half(stream_)},
                         {low_half(seed_), high_half(seed_)});
    ++block_;
    left_ = 2;
  }
  const std::size_t at = left_ == 2 ? 0 : 2;
  --left_;
  return std::uint64_t{buffer_[at + 1]} << 32 | buffer_[at];
}

double RandomStream::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  VTRAIN_ASSERT(bound > 0, "a random integer needs a bound above zero");
  const std::uint64_t bias = (0 - bound) % bound; // 2^64 mod bound: so many lowest draws are turned down
  std::uint64_t draw = bits();
  while (draw < bias)
    draw = bits();
  return draw % bound;
}

double RandomStream::exponential(double mean) {
  VTRAIN_ASSERT(mean > 0.0, "an exponential draw needs a mean above zero");
  return -mean * std::log1p(-uniform());
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double RandomStream::lognormal(double mu, double sigma) {
  return std::exp(mu + sigma * normal());
}

std::size_t RandomStream::weighted(std::span<const double> weights) {
  double sum = 0.0;
  for (const double weight : weights) {
    VTRAIN_ASSERT(weight >= 0.0, "a weight is negative");
    sum += weight;
  }
  VTRAIN_ASSERT(sum > 0.0 && std::isfinite(sum), "the weights need a finite sum above zero");
  double left = uniform() * sum;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0)
      continue;
    chosen = i; // the last one with a weight, should rounding leave a rest
    if (left < weights[i])
      break;
    left -= weights[i];
  }
  return chosen;
}

RandomStream RandomStreams::stream(std::string_view name) const {
  return {seed_, stable_hash(name)};
}

} // namespace vtrain
