// SPDX-License-Identifier: MIT
// "Did you mean ...?"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and swaps
/// of neighbours.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// A hint for an unknown `name`: "did you mean 'srtf'? (available: fifo, las, srtf)". The nearest candidate
/// is named when it is at most a third of the name's length, and at least 2, away or one contains the other;
/// at most 12 candidates are listed, those that begin with the name first, then nearest first. Equal
/// distances keep the order of `candidates`.
[[nodiscard]] std::string suggest(std::string_view name, const std::vector<std::string>& candidates);

} // namespace vtrain
