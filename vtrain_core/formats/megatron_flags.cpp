// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/megatron_flags.hpp"

#include "common/number.hpp"
#include "common/suggest.hpp"
#include "vtrain_core/formats/text_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace vtrain {
namespace {

constexpr std::int64_t kLargestNumber = 1'000'000'000;
constexpr std::size_t kMostUnknown = 1000; // Megatron-LM itself has some 600 arguments

constexpr auto kSwitches = std::to_array<std::string_view>(
    {"bf16", "checkpoint-activations", "disable-bias-linear", "fp16", "fp8-hybrid", "group-query-attention",
     "no-overlap-p2p-communication", "optimizer-cpu-offload", "overlap-grad-reduce", "overlap-param-gather",
     "recompute-activations", "sequence-parallel", "swiglu", "tp-comm-overlap",
     "untie-embeddings-and-output-weights", "use-distributed-optimizer", "use-flash-attn",
     "use-rotary-position-embeddings", "use-tp-pp-dp-mapping"});
constexpr auto kValued = std::to_array<std::string_view>({"attention-backend",
                                                          "context-parallel-size",
                                                          "encoder-seq-length",
                                                          "expert-model-parallel-size",
                                                          "ffn-hidden-size",
                                                          "fp8-format",
                                                          "global-batch-size",
                                                          "hidden-size",
                                                          "kv-channels",
                                                          "make-vocab-size-divisible-by",
                                                          "max-position-embeddings",
                                                          "merge-file",
                                                          "micro-batch-size",
                                                          "moe-expert-capacity-factor",
                                                          "moe-ffn-hidden-size",
                                                          "moe-layer-freq",
                                                          "moe-router-topk",
                                                          "moe-shared-expert-intermediate-size",
                                                          "nnodes",
                                                          "nproc-per-node",
                                                          "num-attention-heads",
                                                          "num-experts",
                                                          "num-layers",
                                                          "num-layers-per-virtual-pipeline-stage",
                                                          "num-query-groups",
                                                          "num-virtual-stages-per-pipeline-rank",
                                                          "pipeline-model-parallel-size",
                                                          "position-embedding-type",
                                                          "recompute-granularity",
                                                          "recompute-method",
                                                          "recompute-num-layers",
                                                          "seq-length",
                                                          "tensor-model-parallel-size",
                                                          "tokenizer-type",
                                                          "vocab-size",
                                                          "zero-stage"});
/// Arguments that bear on shape or plan in ways that neither can say.
constexpr auto kNotRead = std::to_array<std::string_view>(
    {"account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split",
     "decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers", "expert-tensor-parallel-size",
     "mtp-num-layers", "multi-latent-attention", "pipeline-model-parallel-layout", "rampup-batch-size",
     "use-custom-fsdp", "use-torch-fsdp2"});

/// Arguments without a bearing that are spelt nearly like ones that have it.
constexpr auto kUnrelated = std::to_array<std::string_view>({"decoder-seq-length", "vocab-file"});

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9');
  });
}

bool is_flag(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && is_letter(word[2]);
}

/// The words of a name, sorted: "num_layers" gives {layers, num}.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : name)
    if (letter == '-' || letter == '_')
      parts.emplace_back();
    else
      parts.back() += letter;
  std::ranges::sort(parts);
  return parts;
}

/// Whether `name` is likely meant to be `known`: two letters off, or words left out.
bool is_near(std::string_view name, std::string_view known) {
  constexpr std::size_t kShortest = 6;
  constexpr std::size_t kMostWrong = 2;
  if (std::min(name.size(), known.size()) < kShortest || name.size() > known.size() + kMostWrong)
    return false;
  if (known.size() <= name.size() + kMostWrong && edit_distance(name, known) <= kMostWrong)
    return true;
  const std::vector<std::string> parts = parts_of(name);
  return parts.size() >= 2 && std::ranges::includes(parts_of(known), parts);
}

} // namespace

MegatronFlags::MegatronFlags(std::string_view script, std::string file, Diagnostics& diagnostics)
    : script_(script), file_(std::move(file)), diagnostics_(&diagnostics) {
  collect(shell_words(script));
  std::size_t left = kMostUnknown;
  for (const auto& [name, offset] : unknown_)
    if (left-- > 0)
      warn_if_misspelt(name, offset);
    else
      break;
}

void MegatronFlags::collect(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const std::size_t equals = word.find('=');
    if (!is_flag(word)) {
      if (equals != std::string_view::npos && is_name(word.substr(0, equals)))
        assign(word.substr(0, equals), words[i], word.substr(equals + 1));
      continue;
    }
    std::string name(word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
    if (name == "nproc_per_node") // torchrun takes both spellings
      name = "nproc-per-node";
    if (is_in(kSwitches, name)) {
      add(name, {{}, words[i].offset});
    } else if (is_in(kUnrelated, name)) {
      continue;
    } else if (!is_in(kValued, name)) {
      unknown_.try_emplace(name, words[i].offset);
    } else if (equals != std::string_view::npos) {
      add(name, {std::string(word.substr(equals + 1)), words[i].offset});
    } else {
      const bool has_value = i + 1 < words.size() && !is_flag(words[i + 1].text);
      add(name, {has_value ? words[i + 1].text : std::string{}, words[i].offset});
      i += has_value ? 1 : 0;
    }
  }
}

void MegatronFlags::assign(std::string_view name, const ShellWord& word, std::string_view value) {
  if (!value.empty()) // else it is an array
    variables_[std::string(name)].push_back({std::string(value), word.offset});
}

void MegatronFlags::add(std::string_view name, Value value) {
  const auto [at, is_new] = flags_.try_emplace(std::string(name), value);
  if (!is_new && at->second.text != value.text)
    diagnostics_->error(place_in(script_, file_, value.offset),
                        fmt::format("--{} is given as '{}' and as '{}'", name, at->second.text, value.text));
}

void MegatronFlags::warn_if_misspelt(std::string_view name, std::size_t offset) {
  if (is_in(kNotRead, name)) {
    diagnostics_->warning(place_in(script_, file_, offset),
                          fmt::format("--{} is passed over: neither a shape nor a plan can say it", name));
    return;
  }
  std::string_view near;
  std::size_t least = name.size();
  const auto look_at = [&](std::string_view known) {
    if (const std::size_t distance = is_near(name, known) ? edit_distance(name, known) : least;
        distance < least) {
      near = known;
      least = distance;
    }
  };
  std::ranges::for_each(kSwitches, look_at);
  std::ranges::for_each(kValued, look_at);
  if (!near.empty())
    diagnostics_->warning(place_in(script_, file_, offset), fmt::format("--{} is passed over", name),
                          fmt::format("did you mean '--{}'?", near));
}

bool MegatronFlags::has(std::string_view name) const {
  return flags_.contains(name);
}

std::optional<std::string> MegatronFlags::word(std::string_view name) {
  const auto at = flags_.find(name);
  if (at == flags_.end())
    return std::nullopt;
  const Resolved value = resolve(at->second.text, 0);
  if (value.fault.empty() && !value.text.empty())
    return value.text;
  error(name, value.fault.empty() ? fmt::format("--{} needs a value", name)
                                  : fmt::format("the value of --{}, {}", name, value.fault));
  return std::nullopt;
}

std::optional<std::int64_t> MegatronFlags::count(std::string_view name) {
  const std::optional<std::string> text = word(name);
  const std::optional<std::int64_t> value = text ? parse_integer(*text) : std::nullopt;
  if (value && *value >= 1 && *value <= kLargestNumber)
    return value;
  if (text)
    error(name,
          fmt::format("--{} must be a whole number from 1 to {}, not '{}'", name, kLargestNumber, *text));
  return std::nullopt;
}

std::optional<double> MegatronFlags::number(std::string_view name) {
  const std::optional<std::string> text = word(name);
  const std::optional<double> value = text ? parse_number(*text) : std::nullopt;
  if (text && !value)
    error(name, fmt::format("--{} must be a number, not '{}'", name, *text));
  return value;
}

std::optional<std::int64_t> MegatronFlags::quiet_count(std::string_view name) {
  const auto at = flags_.find(name);
  const auto value = at == flags_.end() ? std::nullopt : parse_integer(resolve(at->second.text, 0).text);
  return value && *value >= 1 && *value <= kLargestNumber ? value : std::nullopt;
}

MegatronFlags::Resolved MegatronFlags::resolve(std::string_view text, int depth) const {
  if (text.find('$') == std::string_view::npos)
    return text.find('`') == std::string_view::npos
               ? Resolved{std::string(text), {}}
               : Resolved{{}, fmt::format("{}, is computed: write it out", text)};
  if (text.starts_with("${") && text.find('}') == text.size() - 1)
    return resolve_variable(text.substr(2, text.size() - 3), depth);
  if (text.starts_with('$') && (is_name(text.substr(1)) || parse_integer(text.substr(1))))
    return resolve_variable(text.substr(1), depth);
  return {{}, fmt::format("{}, is computed: write it out", text)};
}

MegatronFlags::Resolved MegatronFlags::resolve_variable(std::string_view inside, int depth) const {
  constexpr int kDeepest = 20;
  const std::size_t end = std::min(inside.find_first_of(":-="), inside.size());
  const std::string_view name = inside.substr(0, end);
  const std::size_t dash = inside.find('-');
  const auto at = variables_.find(name);
  if (at == variables_.end() && dash != std::string_view::npos) // ${NAME:-default}
    return resolve(inside.substr(dash + 1), depth + 1);
  if (at == variables_.end() || depth > kDeepest)
    return {{}, fmt::format("${}, is not assigned in this file", name)};
  const Value& first = at->second.front();
  for (const Value& other : at->second)
    if (other.text != first.text)
      return {{},
              fmt::format("${}, is ambiguous: it is {} on line {} and {} on line {}", name, first.text,
                          place_in(script_, file_, first.offset).line, other.text,
                          place_in(script_, file_, other.offset).line)};
  return resolve(first.text, depth + 1);
}

SourceLocation MegatronFlags::place(std::string_view name) const {
  const auto at = flags_.find(name);
  return at == flags_.end() ? SourceLocation{file_, 0, 0} : place_in(script_, file_, at->second.offset);
}

void MegatronFlags::error(std::string_view name, std::string message, std::string hint) {
  diagnostics_->error(place(name), std::move(message), std::move(hint));
}

void MegatronFlags::warning(std::string_view name, std::string message, std::string hint) {
  diagnostics_->warning(place(name), std::move(message), std::move(hint));
}

} // namespace vtrain
