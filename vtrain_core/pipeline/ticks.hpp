// SPDX-License-Identifier: MIT
// Pipeline time in integer ticks. Sums and maxima of ticks are exact, so equal states are really equal and a
// jump over a steady state is exact, where rounding noise in seconds would break both.
#pragma once

#include "vtrain_core/pipeline/schedule.hpp"

namespace vtrain::pipeline {

/// A date or duration as a multiple of a power of two of a second.
using Tick = std::int64_t;

/// Writes `seconds` in ticks of 2^-shift s into `ticks` and returns the shift, chosen so that the whole
/// iteration stays below 2^52 ticks: int64 and double both hold every date of it. Reuses the memory of
/// `ticks`. The arrays have the sizes that `Problem` gives; each duration is finite and not negative.
int to_ticks(const Problem<double>& seconds, Problem<Tick>& ticks);

/// `ticks` in seconds.
[[nodiscard]] double seconds_of(Tick ticks, int shift);

} // namespace vtrain::pipeline
