// SPDX-License-Identifier: MIT
// The calibrations that ship, and the choice of one for a GPU, a precision and a software stack.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/calibration/calibration.hpp"
#include "vtrain_core/calibration/software_stack.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// What calibrated constants are needed for.
struct CalibrationKey {
  Gpu gpu;
  Precision precision = Precision::bf16;
  std::string software_stack = "megatron-lm";
};

/// A calibration and what must be said about using it.
struct ChosenCalibration {
  Calibration calibration;
  std::string
      note; ///< one sentence when nothing fits the key exactly: what was used instead, and why; else empty
};

/// What must be said when `calibration` is used for `key`: that it was made for another GPU or precision;
/// empty if not.
[[nodiscard]] std::string mismatch(const Calibration& calibration, const CalibrationKey& key);

/// Calibrations (catalog/*.yaml, compiled in), software stacks and textbook constants.
class CalibrationCatalogue {
public:
  /// Throws InternalError if the YAML is wrong (a test reads it).
  static CalibrationCatalogue builtin();

  [[nodiscard]] const std::vector<Calibration>& calibrations() const { return calibrations_; }
  [[nodiscard]] const std::vector<SoftwareStack>& stacks() const { return stacks_; }
  [[nodiscard]] const TextbookConstants& textbook_constants() const { return textbook_; }
  /// The stack of that name; Megatron-LM's habits under an unknown name.
  [[nodiscard]] SoftwareStack stack(std::string_view name) const;

  /// The textbook constants for a key, as a calibration called "textbook".
  [[nodiscard]] Calibration textbook(const CalibrationKey& key) const;
  /// The best calibration for a key: same GPU, precision and stack (fp16 and bf16 stand for each other where
  /// only one exists); else same GPU and precision under another stack, with a note; else the textbook, with
  /// a note. Of equals the one that was fitted on more rows.
  [[nodiscard]] ChosenCalibration choose(const CalibrationKey& key) const;
  /// The calibration that a user names: "textbook", one that ships, or a file (a name that ends in .yaml or
  /// .yml or exists). An unknown name is an error with a suggestion, at `where`. A calibration made for
  /// another GPU or precision than the key's is used as asked, with a note.
  [[nodiscard]] ChosenCalibration named(std::string_view name, const CalibrationKey& key,
                                        const SourceLocation& where, Diagnostics& diagnostics) const;

private:
  std::vector<Calibration> calibrations_;
  std::vector<SoftwareStack> stacks_;
  TextbookConstants textbook_;
  std::vector<Gpu> gpus_; ///< of the catalogue, to know which share a chip
};

} // namespace vtrain
