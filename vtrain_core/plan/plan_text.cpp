// SPDX-License-Identifier: MIT
#include "vtrain_core/plan/plan_text.hpp"

#include "vtrain_core/plan/plan_rules.hpp"

#include <cstddef>
#include <utility>

namespace vtrain {
namespace {

template <class Value, std::size_t N> using Words = std::array<std::pair<Value, std::string_view>, N>;

constexpr Words<Recompute, 3> kRecompute{
    {{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}}};
constexpr Words<Precision, 3> kPrecision{
    {{Precision::fp16, "fp16"}, {Precision::bf16, "bf16"}, {Precision::fp8, "fp8"}}};
constexpr Words<AttentionKernel, 2> kAttention{
    {{AttentionKernel::plain, "plain"}, {AttentionKernel::flash, "flash"}}};
constexpr Words<ParallelAxis, 5> kAxis{{{ParallelAxis::tensor, "tp"},
                                        {ParallelAxis::context, "cp"},
                                        {ParallelAxis::expert, "ep"},
                                        {ParallelAxis::data, "dp"},
                                        {ParallelAxis::pipeline, "pp"}}};
constexpr std::array<pipeline::ScheduleKind, 4> kSchedules{
    pipeline::ScheduleKind::gpipe, pipeline::ScheduleKind::one_f_one_b, pipeline::ScheduleKind::interleaved,
    pipeline::ScheduleKind::zb_h1};

template <class Value, std::size_t N> std::string_view word_of(const Words<Value, N>& words, Value value) {
  for (const auto& [known, word] : words)
    if (known == value)
      return word;
  return "?";
}

template <class Value, std::size_t N>
std::optional<Value> value_of(const Words<Value, N>& words, std::string_view text) {
  for (const auto& [value, word] : words)
    if (word == text)
      return value;
  return std::nullopt;
}

template <class Value, std::size_t N> std::vector<std::string> all_of(const Words<Value, N>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const auto& [value, word] : words)
    texts.emplace_back(word);
  return texts;
}

} // namespace

std::string_view to_string(Recompute value) {
  return word_of(kRecompute, value);
}
std::string_view to_string(Precision value) {
  return word_of(kPrecision, value);
}
std::string_view to_string(AttentionKernel value) {
  return word_of(kAttention, value);
}
std::string_view to_string(ParallelAxis value) {
  return word_of(kAxis, value);
}

std::optional<Recompute> parse_recompute(std::string_view text) {
  return value_of(kRecompute, text);
}
std::optional<Precision> parse_precision(std::string_view text) {
  return value_of(kPrecision, text);
}
std::optional<AttentionKernel> parse_attention(std::string_view text) {
  return value_of(kAttention, text);
}
std::optional<ParallelAxis> parse_axis(std::string_view text) {
  return value_of(kAxis, text);
}

std::string to_string(const std::array<ParallelAxis, 5>& order) {
  std::string text;
  for (const ParallelAxis axis : order) {
    text += text.empty() ? "" : "-";
    text += to_string(axis);
  }
  return text;
}

std::optional<std::array<ParallelAxis, 5>> parse_rank_order(std::string_view text) {
  std::array<ParallelAxis, 5> order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t end = text.find('-');
    const std::optional<ParallelAxis> axis = parse_axis(text.substr(0, end));
    const bool is_last = i + 1 == order.size();
    if (!axis || (end == std::string_view::npos) != is_last)
      return std::nullopt;
    order[i] = *axis;
    text.remove_prefix(is_last ? text.size() : end + 1);
  }
  return is_permutation(order) ? std::optional(order) : std::nullopt;
}

std::vector<std::string> recompute_words() {
  return all_of(kRecompute);
}
std::vector<std::string> precision_words() {
  return all_of(kPrecision);
}
std::vector<std::string> attention_words() {
  return all_of(kAttention);
}
std::vector<std::string> schedule_words() {
  std::vector<std::string> words;
  words.reserve(kSchedules.size());
  for (const pipeline::ScheduleKind kind : kSchedules)
    words.emplace_back(pipeline::to_string(kind));
  return words;
}

} // namespace vtrain
