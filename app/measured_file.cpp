// SPDX-License-Identifier: MIT
#include "app/measured_file.hpp"

#include "app/progress.hpp"
#include "app/run.hpp"
#include "common/csv.hpp"
#include "platforms/catalogue.hpp"

#include <fmt/format.h>

#include <memory>

namespace vtrain {

MeasuredRows read_measured_file(const std::string& file, MeasuredTimes times,
                                const CalibrationCatalogue& catalogue, Diagnostics& diagnostics) {
  const CsvTable table = CsvTable::read(file, diagnostics);
  MeasuredRows rows = read_measured_rows(table, Catalogue::builtin(), catalogue.stacks(),
                                         times == MeasuredTimes::required, diagnostics);
  if (rows.rows.empty() && !diagnostics.has_errors()) {
    std::vector<Diagnostic> findings = diagnostics.kept(); // why
    findings.push_back({{file, 0, 0}, Severity::error, "no row of the file can be used", {}});
    throw InputError(std::move(findings));
  }
  diagnostics.throw_if_errors();
  return rows;
}

std::function<void(std::size_t, std::size_t)> fold_progress(const std::string& label, bool enabled) {
  const auto line = std::make_shared<StatusLine>(enabled); // shared: the function is copied
  return [line, label](std::size_t done, std::size_t all) {
    if (interrupt_flag().load())
      throw Interrupted("interrupted: nothing was written");
    if (line->is_due())
      line->show(fmt::format("{}: {} of {} rows", label, done, all));
  };
}

} // namespace vtrain
