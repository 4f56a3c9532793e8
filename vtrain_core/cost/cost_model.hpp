// SPDX-License-Identifier: MIT
// What prices an operator: the interface, and where a price comes from.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace vtrain {

/// Where a price comes from. measured: the very operator is in the profile; scaled: a neighbour's time times
/// the analytic ratio of the two; extrapolated: the same, but outside the range of the profile; analytic: the
/// formulas.
enum class PriceOrigin : std::uint8_t { analytic, measured, scaled, extrapolated };
[[nodiscard]] std::string_view to_string(PriceOrigin value);

/// The time of one operator on an otherwise idle GPU.
struct Price {
  Seconds time;
  PriceOrigin origin = PriceOrigin::analytic;
};

/// Prices compute operators (collectives have a model of their own, see collectives.hpp).
class CostModel {
public:
  CostModel() = default;
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;
  virtual ~CostModel() = default;

  /// `op` is not a collective.
  [[nodiscard]] virtual Price price(const Operator& op) const = 0;
};

} // namespace vtrain
