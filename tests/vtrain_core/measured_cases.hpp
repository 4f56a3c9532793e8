// SPDX-License-Identifier: MIT
// The shared tables of measured iterations, read for tests of calibration.
#pragma once

#include "common/csv.hpp"
#include "platforms/catalogue.hpp"
#include "tests/support/close_to.hpp"
#include "tests/support/shared_data.hpp"
#include "vtrain_core/calibration/accuracy.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace vtrain::test {

/// The rows of a shared table; none, and a message, where this machine lacks it.
inline std::vector<MeasuredRow> shared_rows(const std::string& file, const CalibrationCatalogue& catalogue) {
  const auto path = shared_data("data/iteration_time/" + file);
  if (!path)
    return {};
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(*path, diagnostics);
  MeasuredRows rows = read_measured_rows(table, Catalogue::builtin(), catalogue.stacks(), true, diagnostics);
  CHECK(diagnostics.kept().empty());
  return std::move(rows.rows);
}

} // namespace vtrain::test
