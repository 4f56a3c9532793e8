// SPDX-License-Identifier: MIT
#include "jobs/workload.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace vtrain {
namespace {

constexpr std::size_t kFirstSlots = 64; // a power of two
constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;

std::uint32_t short_hash(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

} // namespace

StringPool::StringPool() : texts_{std::string_view{}}, slots_(kFirstSlots) {}

StringPool::StringPool(const StringPool& other) : StringPool() {
  for (std::size_t i = 1; i < other.texts_.size(); ++i)
    intern(other.texts_[i]);
}

StringPool& StringPool::operator=(const StringPool& other) {
  if (this != &other)
    *this = StringPool(other);
  return *this;
}

Symbol StringPool::intern(std::string_view text) {
  if (text.empty())
    return Symbol(0);
  const std::uint32_t hash = short_hash(text);
  Slot& slot = slot_of(text, hash);
  if (slot.symbol != 0)
    return Symbol(slot.symbol);
  VTRAIN_ASSERT(texts_.size() < std::numeric_limits<std::uint32_t>::max(), "the string pool is full");
  const auto symbol = static_cast<std::uint32_t>(texts_.size());
  slot = {hash, symbol};
  texts_.push_back(store(text));
  if (texts_.size() * 2 > slots_.size())
    grow();
  return Symbol(symbol);
}

/// The slot that holds `text`, or the free one where it belongs (linear probing).
StringPool::Slot& StringPool::slot_of(std::string_view text, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.symbol == 0 || (slot.hash == hash && texts_[slot.symbol] == text))
      return slot;
  }
}

void StringPool::grow() {
  std::vector<Slot> old(slots_.size() * 4);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.symbol == 0)
      continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].symbol != 0)
      at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

/// A copy of `text` whose address never changes.
std::string_view StringPool::store(std::string_view text) {
  if (text.size() > chunk_left_) {
    const std::size_t size = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    free_ = chunks_.back().get();
    chunk_left_ = size;
  }
  char* const begin = free_;
  std::memcpy(begin, text.data(), text.size());
  free_ += text.size();
  chunk_left_ -= text.size();
  return {begin, text.size()};
}

void TraceFunnel::drop(std::string_view reason, std::size_t rows) {
  const auto at = std::ranges::find(dropped, reason, &Step::reason);
  if (at == dropped.end())
    dropped.push_back({std::string(reason), rows});
  else
    at->rows += rows;
}

std::optional<JobSpeed> Workload::speed(const Job& job, GpuCount gpus, const GangSpread& gang) const {
  if (job.curve == kRecordedCurve)
    return gpus == job.gpus ? std::optional(JobSpeed{PerSecond(1.0)}) : std::nullopt;
  const ThroughputLevel* const level = curves[job.curve.value()].level(gpus);
  return level == nullptr ? std::nullopt : std::optional(level->at(gang));
}

std::optional<PerSecond> Workload::rate(const Job& job, GpuCount gpus) const {
  const std::optional<JobSpeed> known = speed(job, gpus, {});
  return known ? std::optional(known->rate) : std::nullopt;
}

} // namespace vtrain
