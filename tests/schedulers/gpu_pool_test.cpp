// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "schedulers/gpu_pool.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::literals;
using namespace vtrain::test;

namespace {

GpuPool make_pool(int nodes, int gpus_per_node, const char* placement, std::size_t jobs = 8) {
  const PlacementEntry& entry = *find_placement(placement);
  return {make_cluster(nodes, gpus_per_node), entry.make == nullptr ? nullptr : entry.make(), jobs};
}

} // namespace

TEST_CASE("under count only numbers are kept") {
  GpuPool pool = make_pool(2, 8, "count");
  CHECK_FALSE(pool.knows_nodes());
  CHECK(pool.fits(16_gpus));
  CHECK_FALSE(pool.fits(17_gpus));
  CHECK(pool.allocate(JobId(0), 10_gpus));
  CHECK_FALSE(pool.allocate(JobId(1), 7_gpus));
  CHECK(pool.allocate(JobId(1), 6_gpus));
  CHECK(pool.free_gpus() == 0_gpus);
  CHECK(pool.last_allocation(JobId(0)).empty());
  pool.release(JobId(0));
  CHECK(pool.free_gpus() == 10_gpus);
  CHECK(pool.restore(JobId(0), 10_gpus));
  CHECK(pool.free_gpus() == 0_gpus);
  CHECK(pool.fragmentation() == 0.0);
}

TEST_CASE("a gang is allocated whole or not at all") {
  GpuPool pool = make_pool(2, 8, "consolidate");
  CHECK(pool.allocate(JobId(0), 5_gpus));
  CHECK(pool.allocate(JobId(1), 5_gpus));
  CHECK(pool.free_gpus() == 6_gpus);
  CHECK_FALSE(pool.fits(4_gpus));
  CHECK_FALSE(pool.allocate(JobId(2), 4_gpus));
  CHECK(pool.free_gpus() == 6_gpus);
  CHECK(pool.nodes().free_gpus() == 6_gpus);
}

TEST_CASE("a search that finds nothing does not spoil what was found before it") {
  GpuPool pool = make_pool(2, 8, "consolidate");
  REQUIRE(pool.allocate(JobId(0), 1_gpus));
  CHECK(pool.fits(8_gpus));
  CHECK_FALSE(pool.fits(16_gpus));
  CHECK(pool.fits(8_gpus));
  CHECK(pool.allocate(JobId(1), 8_gpus));
  REQUIRE(pool.last_allocation(JobId(1)).size() == 1);
  CHECK(pool.last_allocation(JobId(1))[0] == NodeShare{NodeId(1), 8_gpus});
}

TEST_CASE("a released job gets its GPUs back unless one of them was taken") {
  GpuPool pool = make_pool(2, 4, "first_fit");
  CHECK(pool.allocate(JobId(0), 6_gpus));
  pool.release(JobId(0));
  CHECK(pool.last_allocation(JobId(0)).size() == 2);
  CHECK(pool.restore(JobId(0), 6_gpus));
  CHECK(pool.free_gpus() == 2_gpus);
  pool.release(JobId(0));
  CHECK(pool.allocate(JobId(1), 1_gpus));
  CHECK_FALSE(pool.restore(JobId(0), 6_gpus));
  CHECK(pool.free_gpus() == 7_gpus);
  CHECK_FALSE(pool.restore(JobId(2), 1_gpus)); // it never had any
}

TEST_CASE("named GPUs are given only if all of them are free and each node is named once") {
  GpuPool pool = make_pool(2, 4, "best_fit");
  const auto allocate_on = [&pool](std::uint32_t job, const Allocation& shares) {
    return pool.allocate_on(JobId(job), shares);
  };
  CHECK(allocate_on(0, {{NodeId(0), 2_gpus}, {NodeId(1), 3_gpus}}));
  CHECK_FALSE(allocate_on(1, {{NodeId(1), 2_gpus}}));
  CHECK_FALSE(allocate_on(1, {{NodeId(0), 1_gpus}, {NodeId(0), 1_gpus}}));
  CHECK_FALSE(allocate_on(1, {{NodeId(2), 1_gpus}}));
  CHECK_FALSE(allocate_on(1, {{NodeId(0), 0_gpus}}));
  CHECK_FALSE(allocate_on(1, {{NodeId(0), GpuCount(-1)}}));
  CHECK_FALSE(allocate_on(1, {}));
  CHECK(pool.free_gpus() == 3_gpus);
  CHECK(allocate_on(1, {{NodeId(1), 1_gpus}, {NodeId(0), 2_gpus}}));
  CHECK(pool.free_gpus() == 0_gpus);
  GpuPool count = make_pool(2, 4, "count");
  CHECK_FALSE(count.allocate_on(JobId(0), Allocation{{NodeId(0), 1_gpus}}));
}

TEST_CASE("fragmentation is the share of free GPUs that are not on idle nodes") {
  GpuPool pool = make_pool(4, 8, "best_fit");
  CHECK(pool.fragmentation() == 0.0);
  CHECK(pool.allocate(JobId(0), 4_gpus));
  CHECK(pool.fragmentation() == doctest::Approx(4.0 / 28.0));
  CHECK(pool.allocate(JobId(1), 24_gpus));
  CHECK(pool.fragmentation() == 1.0);
  CHECK(pool.allocate(JobId(2), 4_gpus));
  CHECK(pool.fragmentation() == 0.0); // nothing is free
}

TEST_CASE("giving twice and releasing nothing are mistakes") {
  GpuPool pool = make_pool(1, 8, "count");
  CHECK_THROWS_AS(pool.release(JobId(0)), InternalError);
  CHECK(pool.allocate(JobId(0), 1_gpus));
  CHECK_THROWS_AS(static_cast<void>(pool.allocate(JobId(0), 1_gpus)), InternalError);
  CHECK_THROWS_AS(static_cast<void>(pool.restore(JobId(0), 1_gpus)), InternalError);
}
