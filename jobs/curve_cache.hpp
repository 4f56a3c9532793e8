// SPDX-License-Identifier: MIT
// Predicted curves on disk, by what they were predicted from.
#pragma once

#include "jobs/throughput_prediction.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vtrain {

/// A folder with a file for each curve. A file that is damaged, or of another key, is as good as none; one
/// that cannot be written is left out: the cache never changes a result and never stops a run.
class CurveCache {
public:
  /// An empty folder: nothing is kept.
  explicit CurveCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `description` is everything that the curve depends on; its SHA-256 is the key.
  [[nodiscard]] std::optional<PredictedCurve> find(std::string_view description) const;
  void keep(std::string_view description, const PredictedCurve& curve) const;

  /// $XDG_CACHE_HOME/vtrain/curves, or ~/.cache/vtrain/curves; empty where neither is known.
  [[nodiscard]] static std::filesystem::path usual_folder();

private:
  [[nodiscard]] std::filesystem::path file_of(std::string_view description) const;

  std::filesystem::path folder_;
};

} // namespace vtrain
