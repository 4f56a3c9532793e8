// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "common/rank_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

using namespace vtrain;

TEST_CASE("an empty set holds nothing") {
  const RankSet none;
  CHECK(none.empty());
  CHECK(none.capacity() == 0);
  CHECK_FALSE(none.first());
  CHECK_FALSE(none.contains(0));
  CHECK(none.begin() == none.end());
  const RankSet some(1000);
  CHECK(some.empty());
  CHECK_FALSE(some.first());
  CHECK_FALSE(some.at_least(999));
}

TEST_CASE("elements come out in increasing order whatever the order they went in") {
  RankSet set(5000);
  for (const std::uint32_t value : {4999U, 0U, 63U, 64U, 4096U, 4095U, 1U, 64U})
    set.insert(value);
  CHECK(set.size() == 7);
  CHECK(std::vector<std::uint32_t>(set.begin(), set.end()) ==
        std::vector<std::uint32_t>{0, 1, 63, 64, 4095, 4096, 4999});
  set.erase(0);
  set.erase(2);
  set.erase(4999);
  CHECK(set.first() == 1);
  CHECK(set.after(4096) == std::nullopt);
  CHECK(set.at_least(65) == 4095);
  CHECK(set.after(63) == 64);
}

TEST_CASE("a question beyond the capacity has the answer no") {
  RankSet set(64);
  set.insert(63);
  CHECK(set.at_least(63) == 63);
  CHECK_FALSE(set.at_least(64));
  CHECK_FALSE(set.after(63));
  CHECK_FALSE(set.at_least(100000));
  CHECK_FALSE(set.contains(64));
  set.erase(64);
  CHECK(set.size() == 1);
}

TEST_CASE("an element beyond the capacity is a programmer's mistake") {
  RankSet set(64);
  CHECK_THROWS_AS(set.insert(64), InternalError);
  CHECK_THROWS_AS(RankSet().insert(0), InternalError);
}

TEST_CASE("erasing other elements while iterating keeps the iterator") {
  RankSet set(300);
  for (std::uint32_t value = 0; value < 300; ++value)
    set.insert(value);
  std::vector<std::uint32_t> seen;
  for (const std::uint32_t value : set) {
    seen.push_back(value);
    if (value + 1 < 300)
      set.erase(value + 1);
  }
  CHECK(seen.size() == 150);
  CHECK(seen.back() == 298);
}

TEST_CASE("a set of ranks behaves as std::set") {
  for (const std::size_t capacity : {1, 63, 64, 65, 4096, 4097, 270000}) {
    CAPTURE(capacity);
    RandomStream random(5, capacity);
    RankSet set(capacity);
    std::set<std::uint32_t> model;
    for (int step = 0; step < 3000; ++step) {
      const auto value = static_cast<std::uint32_t>(random.below(capacity));
      if (random.below(2) == 0) {
        set.insert(value);
        model.insert(value);
      } else {
        set.erase(value);
        model.erase(value);
      }
      const auto probe = static_cast<std::uint32_t>(random.below(capacity));
      const auto expected = model.lower_bound(probe);
      REQUIRE(set.size() == model.size());
      REQUIRE(set.contains(probe) == model.contains(probe));
      REQUIRE(set.at_least(probe) == (expected == model.end() ? std::nullopt : std::optional(*expected)));
    }
    CHECK(std::equal(set.begin(), set.end(), model.begin(), model.end()));
  }
}
