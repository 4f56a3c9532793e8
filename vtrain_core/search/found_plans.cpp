// SPDX-License-Identifier: MIT
#include "vtrain_core/search/found_plans.hpp"

#include <algorithm>
#include <iterator>

namespace vtrain {

bool FoundPlans::is_before(const TimedChoice& a, const TimedChoice& b) const {
  const Seconds value_a = a.value(request_.objective);
  const Seconds value_b = b.value(request_.objective);
  if (value_a != value_b)
    return value_a < value_b;
  return a.gpus != b.gpus ? a.gpus < b.gpus : a.index < b.index;
}

bool FoundPlans::could_take(const TimedChoice& bound) const {
  if (request_.top > 0 && (best_.size() < request_.top ||
                           bound.value(request_.objective) <= best_.back().value(request_.objective)))
    return true;
  if (request_.by_gpu_count) {
    const auto known = fastest_on_gpus_.find(bound.gpus);
    if (known == fastest_on_gpus_.end() || bound.time <= known->second.time)
      return true;
  }
  return request_.frontier && !is_beaten(bound);
}

/// Whether a plan of the frontier is better in time or in cost and not worse in the other, even if the bound
/// is met.
bool FoundPlans::is_beaten(const TimedChoice& bound) const {
  // The cheapest of those that are as fast is the last of them.
  const auto slower = std::ranges::upper_bound(frontier_, bound.time, {}, &TimedChoice::time);
  if (slower == frontier_.begin())
    return false;
  const TimedChoice& rival = *std::prev(slower);
  return rival.gpu_time() < bound.gpu_time() ||
         (rival.gpu_time() == bound.gpu_time() && rival.time < bound.time);
}

void FoundPlans::add_to_frontier(const TimedChoice& choice) {
  const auto slower = std::ranges::upper_bound(frontier_, choice.time, {}, &TimedChoice::time);
  if (slower != frontier_.begin()) {
    const TimedChoice& rival = *std::prev(slower);
    const bool equal = rival.time == choice.time && rival.gpu_time() == choice.gpu_time();
    if (equal ? rival.index < choice.index : rival.gpu_time() <= choice.gpu_time())
      return;
  }
  // What is not faster and not cheaper has to go.
  const auto first = std::ranges::lower_bound(frontier_, choice.time, {}, &TimedChoice::time);
  auto last = first;
  while (last != frontier_.end() && last->gpu_time() >= choice.gpu_time())
    ++last;
  frontier_.insert(frontier_.erase(first, last), choice);
}

void FoundPlans::add(const TimedChoice& choice) {
  if (request_.top > 0 && (best_.size() < request_.top || is_before(choice, best_.back()))) {
    const auto after = [&](const TimedChoice& a, const TimedChoice& b) { return is_before(a, b); };
    best_.insert(std::upper_bound(best_.begin(), best_.end(), choice, after), choice);
    if (best_.size() > request_.top)
      best_.pop_back();
  }
  if (request_.by_gpu_count) {
    const auto [at, is_new] = fastest_on_gpus_.emplace(choice.gpus, choice);
    TimedChoice& known = at->second;
    if (!is_new && (choice.time < known.time || (choice.time == known.time && choice.index < known.index)))
      known = choice;
  }
  if (request_.frontier)
    add_to_frontier(choice);
}

std::vector<TimedChoice> FoundPlans::frontier() const {
  return frontier_;
}

std::vector<TimedChoice> FoundPlans::by_gpu_count() const {
  std::vector<TimedChoice> out;
  for (const auto& [gpus, choice] : fastest_on_gpus_)
    out.push_back(choice);
  return out;
}

} // namespace vtrain
