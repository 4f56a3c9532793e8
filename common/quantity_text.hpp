// SPDX-License-Identifier: MIT
// Quantities as text: "30s", "1.5h", "80GiB", "400Gbps". A number of a dimension always carries its unit.
#pragma once

#include "common/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace vtrain {

/// The longest time that is accepted anywhere, some 30,000 years: dates beyond it would lose their
/// milliseconds.
inline constexpr Seconds kLongestTime{1e12};

/// Each parser accepts a number and a unit, with or without a blank between them, and gives none otherwise.
/// Time: ns us ms s min h d w. A bare "0" is accepted.
[[nodiscard]] std::optional<Seconds> parse_seconds(std::string_view text);
/// Data: B kB MB GB TB PB (powers of 1000), KiB MiB GiB TiB PiB (powers of 1024).
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);
/// Data rate: bps kbps Mbps Gbps Tbps (bits), B/s kB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s (bytes).
[[nodiscard]] std::optional<BytesPerSecond> parse_bytes_per_second(std::string_view text);
/// Work rate: FLOPS kFLOPS MFLOPS GFLOPS TFLOPS PFLOPS, also written FLOP/s and so on.
[[nodiscard]] std::optional<FlopsPerSecond> parse_flops_per_second(std::string_view text);
/// Power: W kW MW.
[[nodiscard]] std::optional<Watts> parse_watts(std::string_view text);
/// Price of time: USD/h, written "2.50USD/h" or "$2.50/h".
[[nodiscard]] std::optional<UsdPerSecond> parse_usd_per_second(std::string_view text);

/// A duration with the largest unit that keeps the number exact: 90 -> "90s", 3600 -> "1h", 0 -> "0s".
[[nodiscard]] std::string format_seconds(Seconds value);
/// A duration for people, at most three significant digits: "12.3 h", "4.2 d".
[[nodiscard]] std::string human_seconds(Seconds value);

} // namespace vtrain
