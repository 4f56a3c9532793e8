// SPDX-License-Identifier: MIT
// Reads a trace that a test writes down.
#pragma once

#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"
#include "traces/trace_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain::test {

struct TraceReading {
  Workload workload;
  std::string errors; ///< one a line, the folder left out of the paths; warnings are not among them
};

inline std::string text_of(const Diagnostics& diagnostics, const std::string& folder = {}) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.kept()) {
    if (diagnostic.severity != Severity::error)
      continue;
    std::string line = to_string(diagnostic);
    for (std::size_t at = 0; !folder.empty() && (at = line.find(folder + "/")) != std::string::npos;)
      line.erase(at, folder.size() + 1);
    text += line + "\n";
  }
  return text;
}

/// Reads `text` as the file t.csv.
inline TraceReading read_text(std::string_view text, TraceOptions options = {}) {
  const vtrain_test::TemporaryFolder folder;
  options.file = folder / "t.csv";
  write_file(options.file, text);
  Diagnostics diagnostics;
  TraceReading reading;
  reading.workload = read_trace(options, diagnostics);
  reading.errors = text_of(diagnostics, folder.path().string());
  return reading;
}

/// The names of the jobs in rank order, with a blank between them.
inline std::string names_of(const Workload& workload) {
  std::string names;
  for (const Job& job : workload.jobs)
    names += (names.empty() ? "" : " ") + std::string(workload.strings.text(job.name));
  return names;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace vtrain::test
