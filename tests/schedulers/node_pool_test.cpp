// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "schedulers/node_pool.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace vtrain;
using namespace vtrain::literals;

TEST_CASE("a new pool is idle") {
  const NodePool pool(NodeCount(3), 8_gpus);
  CHECK(pool.nodes() == NodeCount(3));
  CHECK(pool.gpus_per_node() == 8_gpus);
  CHECK(pool.total_gpus() == 24_gpus);
  CHECK(pool.free_gpus() == 24_gpus);
  CHECK(pool.idle_nodes() == NodeCount(3));
  CHECK(pool.nodes_with(8_gpus).size() == 3);
}

TEST_CASE("nodes are found by their number of free GPUs after any sequence of changes") {
  RandomStream random = RandomStreams(3).stream("node pool");
  NodePool pool(NodeCount(5), 4_gpus);
  std::vector<int> free(5, 4);
  for (int step = 0; step < 2000; ++step) {
    const auto node = static_cast<std::uint32_t>(random.below(5));
    const int gpus = 1 + static_cast<int>(random.below(4));
    if (random.below(2) == 0 && gpus <= free[node]) {
      pool.take({NodeId(node), GpuCount(gpus)});
      free[node] -= gpus;
    } else if (gpus <= 4 - free[node]) {
      pool.give_back({NodeId(node), GpuCount(gpus)});
      free[node] += gpus;
    }
    int total = 0;
    for (int count = 0; count <= 4; ++count) {
      std::set<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < 5; ++i)
        if (free[i] == count)
          expected.insert(i);
      const RankSet& found = pool.nodes_with(GpuCount(count));
      REQUIRE(std::set<std::uint32_t>(found.begin(), found.end()) == expected);
      total += count * static_cast<int>(expected.size());
    }
    REQUIRE(pool.free_gpus() == GpuCount(total));
    REQUIRE(pool.free_gpus(NodeId(node)) == GpuCount(free[node]));
  }
}

TEST_CASE("taking more than is free and giving back more than was taken are mistakes") {
  NodePool pool(NodeCount(2), 4_gpus);
  pool.take({NodeId(0), 3_gpus});
  CHECK_THROWS_AS(pool.take({NodeId(0), 2_gpus}), InternalError);
  CHECK_THROWS_AS(pool.give_back({NodeId(0), 4_gpus}), InternalError);
  CHECK_THROWS_AS(pool.give_back({NodeId(1), 1_gpus}), InternalError);
  CHECK_THROWS_AS(pool.take({NodeId(2), 1_gpus}), InternalError);
  CHECK_THROWS_AS(NodePool(NodeCount(0), 4_gpus), InternalError);
  CHECK(pool.free_gpus() == 5_gpus);
}
