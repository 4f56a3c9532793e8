// SPDX-License-Identifier: MIT
// A set of small integers in order: one bit an element and a summary bit for 64 of them, four levels for a
// million.
#pragma once

#include "common/assert.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace vtrain {

/// An ordered set of integers in [0, capacity). insert, erase, contains, first and next cost O(log64
/// capacity); nothing is allocated after construction. Iteration is in increasing order.
class RankSet {
public:
  explicit RankSet(std::size_t capacity = 0) : capacity_(capacity) {
    std::size_t words = (capacity + 63) / 64;
    do {
      levels_.emplace_back(words, 0);
      if (words <= 1)
        break;
      words = (words + 63) / 64;
    } while (true);
  }

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool contains(std::uint32_t value) const {
    return value < capacity_ && (levels_[0][value / 64] >> (value % 64) & 1U) != 0;
  }

  /// Adds `value`, which must be below the capacity; nothing changes when it is there already.
  void insert(std::uint32_t value) {
    VTRAIN_ASSERT(value < capacity_, "rank outside the set's capacity");
    if (contains(value))
      return;
    ++size_;
    std::size_t at = value;
    for (auto& level : levels_) {
      std::uint64_t& word = level[at / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (at % 64);
      if (!was_empty)
        return;
      at /= 64;
    }
  }

  /// Removes `value`; nothing changes when it is not there.
  void erase(std::uint32_t value) {
    if (!contains(value))
      return;
    --size_;
    std::size_t at = value;
    for (auto& level : levels_) {
      std::uint64_t& word = level[at / 64];
      word &= ~(std::uint64_t{1} << (at % 64));
      if (word != 0)
        return;
      at /= 64;
    }
  }

  /// The smallest element, if any.
  [[nodiscard]] std::optional<std::uint32_t> first() const { return at_least(0); }

  /// The smallest element >= `value`, if any.
  [[nodiscard]] std::optional<std::uint32_t> at_least(std::size_t value) const {
    std::size_t at = value;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (at / 64 < levels_[level].size()) {
        const std::uint64_t word = levels_[level][at / 64] & (~std::uint64_t{0} << (at % 64));
        if (word != 0)
          return descend(level, (at / 64) * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
      at = at / 64 + 1;
    }
    return std::nullopt;
  }
  /// The smallest element > `value`, if any.
  [[nodiscard]] std::optional<std::uint32_t> after(std::uint32_t value) const {
    return at_least(static_cast<std::size_t>(value) + 1);
  }

  /// Forward iterator over the elements. Erasing an element other than the current one keeps it valid.
  class Iterator {
  public:
    using value_type = std::uint32_t;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    Iterator() = default;
    Iterator(const RankSet* set, std::optional<std::uint32_t> at) : set_(set), at_(at) {}
    std::uint32_t operator*() const { return *at_; }
    Iterator& operator++() {
      at_ = set_->after(*at_);
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

  private:
    const RankSet* set_ = nullptr;
    std::optional<std::uint32_t> at_;
  };
  [[nodiscard]] Iterator begin() const { return {this, first()}; }
  [[nodiscard]] Iterator end() const { return {this, std::nullopt}; }

private:
  [[nodiscard]] std::uint32_t descend(std::size_t level, std::size_t at) const {
    while (level > 0) {
      --level;
      at = at * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][at]));
    }
    return static_cast<std::uint32_t>(at);
  }
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::vector<std::vector<std::uint64_t>> levels_;
};

} // namespace vtrain
