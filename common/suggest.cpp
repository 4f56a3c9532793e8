// SPDX-License-Identifier: MIT
#include "common/suggest.hpp"

#include "common/letter_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace vtrain {
namespace {

constexpr std::size_t kMaxListed = 12;
constexpr std::size_t kShortestPart = 3; // one or two letters are part of nearly everything

bool contains_either_way(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= kShortestPart &&
         (a.find(b) != std::string_view::npos || b.find(a) != std::string_view::npos);
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(current.begin(), current.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
  }
  return current[b.size()];
}

std::string suggest(std::string_view name, const std::vector<std::string>& candidates) {
  struct Ranked {
    bool continues; ///< the name is its beginning: someone stopped typing
    std::size_t distance;
    const std::string* text;
  };
  if (candidates.empty())
    return {};
  const std::string wanted = lower_case(name);
  std::vector<Ranked> ranked;
  ranked.reserve(candidates.size());
  for (const std::string& candidate : candidates) {
    const std::string text = lower_case(candidate);
    ranked.push_back({wanted.size() >= kShortestPart && text.starts_with(wanted), edit_distance(wanted, text),
                      &candidate});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.continues != b.continues ? a.continues : a.distance < b.distance;
  });

  const std::size_t allowed = std::max<std::size_t>(2, name.size() / 3);
  const auto near = std::find_if(ranked.begin(), ranked.end(), [&](const Ranked& candidate) {
    return (candidate.distance <= allowed && candidate.distance < name.size()) ||
           contains_either_way(wanted, lower_case(*candidate.text));
  });
  std::string list;
  for (std::size_t i = 0; i < std::min(ranked.size(), kMaxListed); ++i)
    fmt::format_to(std::back_inserter(list), "{}{}", i == 0 ? "" : ", ", *ranked[i].text);
  if (ranked.size() > kMaxListed)
    fmt::format_to(std::back_inserter(list), " and {} more", ranked.size() - kMaxListed);
  if (near == ranked.end())
    return "available: " + list;
  return fmt::format("did you mean '{}'? (available: {})", *near->text, list);
}

} // namespace vtrain
