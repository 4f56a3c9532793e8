// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "schedulers/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

using namespace vtrain;
using namespace vtrain::literals;

namespace {

/// A pool of nodes of 8 GPUs with that many free on each.
NodePool pool_with(const std::vector<int>& free, int size = 8) {
  NodePool pool(NodeCount(static_cast<int>(free.size())), GpuCount(size));
  for (std::uint32_t node = 0; node < free.size(); ++node)
    if (free[node] < size)
      pool.take({NodeId(node), GpuCount(size - free[node])});
  return pool;
}

std::optional<Allocation> place(const char* name, const NodePool& pool, int gpus) {
  const auto placement = find_placement(name)->make();
  Allocation out{{NodeId(99), 1_gpus}}; // what was in it does not matter
  return placement->find(pool, GpuCount(gpus), out) ? std::optional(out) : std::nullopt;
}

Allocation shares(std::initializer_list<std::pair<std::uint32_t, int>> list) {
  Allocation allocation;
  for (const auto& [node, gpus] : list)
    allocation.push_back({NodeId(node), GpuCount(gpus)});
  return allocation;
}

/// The rules as they read, by scanning all nodes.
using Free = std::vector<int>;

std::optional<Allocation> brute_first_fit(Free free, int gpus, int /*size*/) {
  for (std::uint32_t node = 0; node < free.size(); ++node)
    if (free[node] >= gpus)
      return shares({{node, gpus}});
  Allocation out;
  for (std::uint32_t node = 0; node < free.size() && gpus > 0; ++node) {
    const int share = std::min(gpus, free[node]);
    if (share > 0)
      out.push_back({NodeId(node), GpuCount(share)});
    gpus -= share;
  }
  return gpus == 0 ? std::optional(out) : std::nullopt;
}

/// The node with the fewest free GPUs, of those with at least `low`; lowest index in ties.
std::optional<std::uint32_t> brute_fullest(const Free& free, int low) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t node = 0; node < free.size(); ++node)
    if (free[node] >= low && (!best || free[node] < free[*best]))
      best = node;
  return best;
}

std::optional<Allocation> brute_best_fit(Free free, int gpus, int /*size*/) {
  Allocation out;
  while (gpus > 0) {
    if (const auto node = brute_fullest(free, gpus)) {
      out.push_back({NodeId(*node), GpuCount(gpus)});
      return out;
    }
    const auto most = std::max_element(free.begin(), free.end());
    if (*most == 0)
      return std::nullopt;
    out.push_back({NodeId(static_cast<std::uint32_t>(most - free.begin())), GpuCount(*most)});
    gpus -= *most;
    *most = 0;
  }
  return out;
}

std::optional<Allocation> brute_consolidate(Free free, int gpus, int size) {
  Allocation out;
  if (gpus > size)
    for (std::uint32_t node = 0; node < free.size() && gpus >= size; ++node)
      if (free[node] == size) {
        out.push_back({NodeId(node), GpuCount(size)});
        free[node] = 0;
        gpus -= size;
      }
  if (gpus == 0)
    return out;
  if (gpus >= size && !out.empty())
    return std::nullopt; // too few idle nodes
  const auto node = gpus <= size ? brute_fullest(free, gpus) : std::nullopt;
  if (!node)
    return std::nullopt;
  out.push_back({NodeId(*node), GpuCount(gpus)});
  return out;
}

} // namespace

TEST_CASE("placements are found by name and say what they do") {
  for (const char* name : {"count", "first_fit", "best_fit", "consolidate"}) {
    REQUIRE(find_placement(name) != nullptr);
    CHECK_FALSE(find_placement(name)->summary.empty());
  }
  CHECK_FALSE(static_cast<bool>(find_placement("count")->make));
  CHECK(find_placement("Count") == nullptr);
  CHECK(placements().size() == 4);
}

TEST_CASE("first_fit takes the lowest node that holds the gang and scatters it otherwise") {
  const NodePool pool = pool_with({2, 3, 0, 8, 4});
  CHECK(place("first_fit", pool, 2) == shares({{0, 2}}));
  CHECK(place("first_fit", pool, 3) == shares({{1, 3}}));
  CHECK(place("first_fit", pool, 8) == shares({{3, 8}}));
  CHECK(place("first_fit", pool, 10) == shares({{0, 2}, {1, 3}, {3, 5}}));
  CHECK(place("first_fit", pool, 17) == shares({{0, 2}, {1, 3}, {3, 8}, {4, 4}}));
  CHECK(place("first_fit", pool, 18) == std::nullopt);
}

TEST_CASE("best_fit takes the fullest node that holds the gang and as few nodes as possible otherwise") {
  const NodePool pool = pool_with({2, 3, 0, 8, 4, 3});
  CHECK(place("best_fit", pool, 1) == shares({{0, 1}}));
  CHECK(place("best_fit", pool, 3) == shares({{1, 3}}));
  CHECK(place("best_fit", pool, 5) == shares({{3, 5}}));
  CHECK(place("best_fit", pool, 10) == shares({{3, 8}, {0, 2}}));
  CHECK(place("best_fit", pool, 11) == shares({{3, 8}, {1, 3}}));
  CHECK(place("best_fit", pool, 13) == shares({{3, 8}, {4, 4}, {0, 1}}));
  CHECK(place("best_fit", pool, 20) == shares({{3, 8}, {4, 4}, {1, 3}, {5, 3}, {0, 2}}));
  CHECK(place("best_fit", pool, 21) == std::nullopt);
}

TEST_CASE("consolidate takes one node or wholly idle nodes with one for the rest") {
  const NodePool pool = pool_with({2, 8, 3, 8, 8, 0});
  CHECK(place("consolidate", pool, 3) == shares({{2, 3}}));
  CHECK(place("consolidate", pool, 4) == shares({{1, 4}}));
  CHECK(place("consolidate", pool, 16) == shares({{1, 8}, {3, 8}}));
  CHECK(place("consolidate", pool, 18) == shares({{1, 8}, {3, 8}, {0, 2}}));
  CHECK(place("consolidate", pool, 20) == shares({{1, 8}, {3, 8}, {4, 4}}));
  CHECK(place("consolidate", pool, 27) == shares({{1, 8}, {3, 8}, {4, 8}, {2, 3}}));
  CHECK(place("consolidate", pool, 28) == std::nullopt); // 29 GPUs are free
  CHECK(place("consolidate", pool_with({7, 7}), 8) == std::nullopt);
}

TEST_CASE("placements choose what scanning all nodes chooses") {
  RandomStream random = RandomStreams(11).stream("placement");
  struct Rule {
    const char* name;
    std::optional<Allocation> (*brute)(Free, int, int);
  };
  for (int round = 0; round < 3000; ++round) {
    const int size = 1 + static_cast<int>(random.below(9));
    Free free(1 + random.below(7));
    int total = 0;
    for (int& gpus : free) {
      gpus =
          random.below(4) == 0 ? size : static_cast<int>(random.below(static_cast<std::uint64_t>(size) + 1));
      total += gpus;
    }
    const NodePool pool = pool_with(free, size);
    CAPTURE(free);
    CAPTURE(size);
    for (int gpus = 1; gpus <= total + 1; ++gpus) {
      CAPTURE(gpus);
      for (const Rule& rule : {Rule{"first_fit", brute_first_fit}, Rule{"best_fit", brute_best_fit},
                               Rule{"consolidate", brute_consolidate}}) {
        CAPTURE(rule.name);
        const auto found = place(rule.name, pool, gpus);
        REQUIRE(found == rule.brute(free, gpus, size));
        if (std::string_view(rule.name) != "consolidate")
          REQUIRE(found.has_value() == (gpus <= total)); // never refuses when enough GPUs are free
      }
    }
  }
}

TEST_CASE("a placement that finds GPUs finds them too when more are free or fewer are asked for") {
  RandomStream random = RandomStreams(12).stream("monotone");
  for (int round = 0; round < 2000; ++round) {
    Free free(1 + random.below(6));
    for (int& gpus : free)
      gpus = static_cast<int>(random.below(5));
    Free more = free;
    int& raised = more[random.below(more.size())];
    raised = std::min(4, raised + 1);
    for (const char* name : {"first_fit", "best_fit", "consolidate"}) {
      bool narrower = true;
      for (int gpus = 1; gpus <= 25; ++gpus) {
        const bool fits = place(name, pool_with(free, 4), gpus).has_value();
        REQUIRE((!fits || place(name, pool_with(more, 4), gpus).has_value()));
        REQUIRE((!fits || narrower));
        narrower = fits;
      }
    }
  }
}
