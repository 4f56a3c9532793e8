// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

namespace vtrain::test {

/// Equal but for a relative difference, 1e-9 unless `.epsilon` says another. (doctest::Approx alone adds 1 to
/// the size of the numbers, so that most times in seconds would be equal to each other.)
inline doctest::Approx close_to(double value) {
  return doctest::Approx(value).epsilon(1e-9).scale(1e-200);
}

} // namespace vtrain::test
