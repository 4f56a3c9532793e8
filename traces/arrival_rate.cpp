// SPDX-License-Identifier: MIT
#include "traces/arrival_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace vtrain {
namespace {

// The shape of Helios' Venus cluster (Hu et al., "Characterization and Prediction of Deep Learning Workloads
// in Large-Scale GPU Datacenters", SC'21): trough at 6, peak at 16, dips at lunch and dinner.
constexpr std::array<double, 24> kByHour = {.55, .42, .33,  .27,  .23,  .21, .20, .26, .45, .80, 1.0, 1.0,
                                            .70, .88, 1.05, 1.12, 1.15, 1.0, .72, .85, .98, .95, .82, .68};
constexpr std::array<double, 7> kByDay = {30.7, 31.9, 36.8, 34.6,
                                          27.3, 19.6, 22.2}; // jobs an hour, Mon to Sun

constexpr double kBinSeconds = 600.0;
constexpr double kMaxBins = 2e6; // keeps a span of many decades in memory
constexpr double kMemory = 0.7;  // correlation of a bin's factor with the last bin's
constexpr double kSpread = 0.5;  // standard deviation of the factor's logarithm

double rhythm(double clock_s) {
  const double hour = std::floor(clock_s / 3600.0);
  const double day = std::floor(hour / 24.0);
  return kByHour[static_cast<std::size_t>(hour - 24.0 * day)] *
         kByDay[static_cast<std::size_t>(day - 7.0 * std::floor(day / 7.0))];
}

} // namespace

ArrivalRate::ArrivalRate(Seconds span, RandomStream modulation)
    : span_s_(span.base()), bin_s_(std::max(kBinSeconds, span.base() / kMaxBins)) {
  const auto bins = static_cast<std::size_t>(std::max(1.0, std::ceil(span_s_ / bin_s_)));
  cumulative_.reserve(bins);
  double state = modulation.normal();
  double sum = 0.0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double begin = static_cast<double>(bin) * bin_s_;
    const double length = std::min(bin_s_, span_s_ - begin);
    sum += rhythm(begin + length / 2) * std::exp(kSpread * state) * length;
    cumulative_.push_back(sum);
    state = kMemory * state + std::sqrt(1.0 - kMemory * kMemory) * modulation.normal();
  }
}

double ArrivalRate::draw_s(RandomStream& random) const {
  const double mass = random.uniform() * cumulative_.back();
  const auto at = std::ranges::upper_bound(cumulative_, mass);
  const auto bin = static_cast<std::size_t>(std::min(at, cumulative_.end() - 1) - cumulative_.begin());
  const double before = bin == 0 ? 0.0 : cumulative_[bin - 1];
  const double begin = static_cast<double>(bin) * bin_s_;
  const double length = std::min(bin_s_, span_s_ - begin);
  return std::min(span_s_, begin + length * (mass - before) / (cumulative_[bin] - before));
}

} // namespace vtrain
