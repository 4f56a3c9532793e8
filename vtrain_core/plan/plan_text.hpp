// SPDX-License-Identifier: MIT
// The words of a plan's settings, as files and the command line write them.
#pragma once

#include "vtrain_core/plan/parallel_plan.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The value that to_string writes as `text`; none for any other text.
[[nodiscard]] std::optional<Recompute> parse_recompute(std::string_view text);
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view text);
[[nodiscard]] std::optional<AttentionKernel> parse_attention(std::string_view text);
[[nodiscard]] std::optional<ParallelAxis> parse_axis(std::string_view text);

/// A rank order such as "tp-cp-ep-dp-pp", the axis that varies fastest first.
[[nodiscard]] std::string to_string(const std::array<ParallelAxis, 5>& order);
/// The order, if `text` names each axis once.
[[nodiscard]] std::optional<std::array<ParallelAxis, 5>> parse_rank_order(std::string_view text);

/// All words of a setting, for messages and help.
[[nodiscard]] std::vector<std::string> recompute_words();
[[nodiscard]] std::vector<std::string> precision_words();
[[nodiscard]] std::vector<std::string> attention_words();
[[nodiscard]] std::vector<std::string> schedule_words();

} // namespace vtrain
