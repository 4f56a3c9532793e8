// SPDX-License-Identifier: MIT
#include "jobs/curve_cache.hpp"

#include "common/csv.hpp"
#include "common/file.hpp"
#include "common/number.hpp"
#include "common/sha256.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <limits>
#include <system_error>

namespace vtrain {
namespace {

constexpr std::string_view kHeader = "gpus,gpus_per_node,iterations_per_s,plan\n";

/// A line of the file; the end line says how many there are, so that a cut file is known.
std::string text_of(const PredictedCurve& curve, std::string_view key) {
  std::string out = fmt::format("# vtrain curve {}\n# smallest {}\n{}", key,
                                curve.smallest ? curve.smallest->value() : 0, kHeader);
  for (const PredictedLevel& level : curve.levels) {
    out += fmt::format("{},{},", level.gpus.value(), level.gpus_per_node);
    append_number(out, level.rate.base());
    out += "," + level.plan + "\n";
  }
  return out + fmt::format("# {} levels\n", curve.levels.size());
}

/// Takes the text up to `end` from the front; none if there is no such end.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos)
    return std::nullopt;
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(at + 1);
  return out;
}

std::optional<std::int32_t> count(const std::optional<std::string_view>& text) {
  const std::optional<std::int64_t> value = text ? parse_integer(*text) : std::nullopt;
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<PredictedLevel> level_of(std::string_view line) {
  const auto gpus = count(take(line, ','));
  const auto per_node = count(take(line, ','));
  const auto rate_text = take(line, ',');
  const double rate = parse_number(rate_text.value_or("")).value_or(0.0);
  if (!gpus || *gpus < 1 || !per_node || *per_node < 1 || !(rate > 0))
    return std::nullopt;
  return PredictedLevel{GpuCount(*gpus), *per_node, PerSecond(rate), std::string(line)};
}

/// The curve in the text of a file; none if it is not what text_of writes for this key.
std::optional<PredictedCurve> curve_of(std::string_view text, std::string_view key) {
  const std::string first = fmt::format("# vtrain curve {}\n# smallest ", key);
  if (!text.starts_with(first))
    return std::nullopt;
  text.remove_prefix(first.size());
  const auto smallest = count(take(text, '\n'));
  if (!smallest || !text.starts_with(kHeader))
    return std::nullopt;
  text.remove_prefix(kHeader.size());
  PredictedCurve out;
  if (*smallest > 0)
    out.smallest = GpuCount(*smallest);
  while (!text.starts_with('#')) {
    const auto line = take(text, '\n');
    auto level = line ? level_of(*line) : std::nullopt;
    if (!level)
      return std::nullopt;
    out.levels.push_back(*std::move(level));
  }
  return text == fmt::format("# {} levels\n", out.levels.size()) ? std::optional(std::move(out))
                                                                 : std::nullopt;
}

} // namespace

std::filesystem::path CurveCache::file_of(std::string_view description) const {
  return folder_ / (sha256(description) + ".csv");
}

std::optional<PredictedCurve> CurveCache::find(std::string_view description) const {
  if (folder_.empty())
    return std::nullopt;
  const std::filesystem::path file = file_of(description);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return std::nullopt;
  try {
    return curve_of(read_file(file), sha256(description));
  } catch (const std::exception&) { // unreadable: as good as none
    return std::nullopt;
  }
}

void CurveCache::keep(std::string_view description, const PredictedCurve& curve) const {
  if (folder_.empty() || !curve.problem.empty())
    return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  try {
    write_file(file_of(description), text_of(curve, sha256(description)));
  } catch (const IoError&) { // next time it is predicted again
  }
}

std::filesystem::path CurveCache::usual_folder() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody changes the environment
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (cache != nullptr && *cache == '/')
    return std::filesystem::path(cache) / "vtrain" / "curves";
  if (home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "vtrain" / "curves";
  return {};
}

} // namespace vtrain
