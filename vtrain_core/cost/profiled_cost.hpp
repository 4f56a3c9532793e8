// SPDX-License-Identifier: MIT
// Cost models on a profile: measured times of operators on one GPU.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"
#include "common/units.hpp"
#include "vtrain_core/cost/analytic_cost.hpp"
#include "vtrain_core/cost/cost_model.hpp"
#include "vtrain_core/graph/operator.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace vtrain {

/// One measured operator.
struct KernelRecord {
  Operator op; ///< kind, shape and precision; its name is not kept
  Seconds time;
};

/// Measured operators of one GPU.
class KernelProfile {
public:
  /// Reads a CSV with the columns kind (gemm, attention, memory_bound), m, n, k, batch, flops, bytes,
  /// precision (16bit, fp8), attention_core (0, 1), time_us; optionally gpu, operator and others, which are
  /// ignored. A gemm needs m, n, k; its flops and bytes follow. attention needs m, n, k and flops,
  /// memory_bound needs bytes. Rows that cannot be are skipped with a warning; missing columns and a file
  /// without a usable row are errors.
  static KernelProfile read(const std::filesystem::path& file, Diagnostics& diagnostics);
  static KernelProfile parse(const CsvTable& table, Diagnostics& diagnostics);

  [[nodiscard]] const std::vector<KernelRecord>& records() const { return records_; }
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

private:
  std::vector<KernelRecord> records_;
  std::string sha256_;
};

/// Prices by a profile: the very operator's time where it was measured; else the nearest measured operator's
/// (by the distance of the logarithms of its sizes) times the ratio of the two analytic times. Outside the
/// range of the measured work of its kind the price is called extrapolated. A kind that was not measured is
/// priced analytically.
class ProfiledCost : public CostModel {
public:
  /// Both outlive this.
  ProfiledCost(const KernelProfile& profile, const AnalyticCost& analytic);
  [[nodiscard]] Price price(const Operator& op) const override;

protected:
  /// Operators that are priced alike.
  struct Family {
    std::vector<const KernelRecord*> records;
    double least_work = 0; ///< analytic seconds of the smallest and the largest record
    double most_work = 0;
    double ratio = 1.0; ///< geometric mean of measured over analytic time
  };
  [[nodiscard]] const Family& family(const Operator& op) const;
  [[nodiscard]] const AnalyticCost& analytic() const { return *analytic_; }

private:
  const AnalyticCost* analytic_;
  std::array<Family, 5>
      families_; ///< gemm in 16 bits, gemm in fp8, gemm of the attention core, attention, memory
};

/// Prices by the profile where the very operator was measured, else by the formulas, scaled by how measured
/// and analytic times of its kind compare on average.
class BlendedCost final : public ProfiledCost {
public:
  using ProfiledCost::ProfiledCost;
  [[nodiscard]] Price price(const Operator& op) const override;
};

} // namespace vtrain
