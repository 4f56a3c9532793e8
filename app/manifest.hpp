// SPDX-License-Identifier: MIT
// manifest.json: how a result came about. The one file of a run whose bytes differ from run to run.
#pragma once

#include "app/experiment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vtrain {

struct InputFile {
  std::string path; ///< absolute
  std::string sha256;
};

/// The input files of a run and their hashes.
[[nodiscard]] std::vector<InputFile> input_files(const Experiment& experiment, const Workload& workload);

struct ManifestFacts {
  std::string command_line;
  std::string config; ///< the effective configuration; its hash is written
  std::vector<InputFile> inputs;
  double wall_s = 0.0;   ///< simulating and writing
  double engine_s = 0.0; ///< from the first to the last event
  std::uint64_t events = 0;
  std::uint64_t policy_calls = 0;
  bool interrupted = false; ///< the results are partial
};

[[nodiscard]] std::string manifest_json(const ManifestFacts& facts);

/// The manifest of a folder that holds a comparison; `complete` when every policy that was to run has a
/// result.
[[nodiscard]] std::string comparison_manifest(const Experiment& experiment, const Workload& workload,
                                              const std::string& command_line, bool complete);

/// The command line of this process, as the shell passed it, with blanks between the words.
[[nodiscard]] std::string command_line_text();

} // namespace vtrain
