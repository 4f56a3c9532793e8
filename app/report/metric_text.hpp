// SPDX-License-Identifier: MIT
// What a metric is called, what it means, and how its values read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vtrain {

struct MetricText {
  enum class Unit { seconds, ratio, count, number, gpu_hours, kwh, usd };
  enum class Better { lower, higher, neither };
  std::string_view name; ///< as in summary.json
  std::string_view heading;
  std::string_view definition;
  Unit unit;
  Better better;
};

/// All metrics in the order of summary.json.
[[nodiscard]] std::span<const MetricText> metric_texts();

/// The value alone where its unit stands elsewhere: "12,345".
[[nodiscard]] std::string metric_number(const MetricText& metric, std::optional<double> value);
/// The unit that `metric_number` leaves out: "GPU-hours", "kWh", "USD"; else empty.
[[nodiscard]] std::string_view metric_unit(const MetricText& metric);
/// A value with its unit: "4.2 d", "87.65 %", "12,345 GPU-hours"; "–" for none.
[[nodiscard]] std::string metric_value(const MetricText& metric, std::optional<double> value);

} // namespace vtrain
