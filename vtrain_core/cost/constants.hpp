// SPDX-License-Identifier: MIT
// The constants of the analytic model: what each means, its prior, and how sure the prior is. A calibration
// is a set of values for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace vtrain {

/// A constant of the analytic model. Its table entry (constant_table) says what it is.
enum class Constant : std::uint8_t {
  gemm_efficiency,
  memory_efficiency,
  attention_efficiency,
  misaligned_attention,
  nvlink_efficiency,
  network_efficiency,
  overlap_interference,
  straggler,
  layer_launch,
  iteration_overhead,
  misaligned_gemm,
  fp8_efficiency,
  backward_launch_ratio,
  optimizer_traffic,
  message_latency,
  hop_latency,
  count
};
inline constexpr std::size_t kConstants = static_cast<std::size_t>(Constant::count);

/// What a constant is. Priors are log-normal: a value is within a factor exp(+-log_sigma) of `value` with 68
/// %.
struct ConstantInfo {
  std::string_view name; ///< as in calibration files
  std::string_view unit; ///< "1", "s", "B" (bytes for a parameter)
  double value;          ///< textbook value on the A100; catalog/textbook.yaml has what other GPUs change
  double log_sigma;      ///< width of the prior; 0: not fitted
  double low;            ///< least possible value
  double high;           ///< greatest possible value
  std::string_view meaning;
};

/// One entry for each Constant, in their order.
[[nodiscard]] std::span<const ConstantInfo, kConstants> constant_table();
[[nodiscard]] std::optional<Constant> find_constant(std::string_view name);

/// Values of all constants.
class ConstantValues {
public:
  /// The textbook values.
  ConstantValues();
  [[nodiscard]] double operator[](Constant which) const { return values_[static_cast<std::size_t>(which)]; }
  double& operator[](Constant which) { return values_[static_cast<std::size_t>(which)]; }
  friend bool operator==(const ConstantValues&, const ConstantValues&) = default;

private:
  std::array<double, kConstants> values_;
};

} // namespace vtrain
