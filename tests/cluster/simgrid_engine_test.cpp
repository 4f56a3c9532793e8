// SPDX-License-Identifier: MIT
// Each case runs in a process of its own (ctest starts one for each), since a process can run one SimGrid
// engine.
#include "cluster/result_tables.hpp"
#include "cluster/sim_engine.hpp"
#include "common/random.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE("the SimGrid engine calls every date in order and stops when there is none") {
  const auto engine = make_simgrid_engine(make_cluster(2, 8));
  std::vector<double> dates;
  engine->run(Seconds(1e8), [&](Seconds now) -> std::optional<Seconds> {
    dates.push_back(now.base());
    if (dates.size() == 4)
      return std::nullopt;
    return now + Seconds(1e-6);
  });
  REQUIRE(dates.size() == 4);
  CHECK(dates.front() == 1e8);
  CHECK(dates.back() == doctest::Approx(1e8 + 3e-6).epsilon(1e-15));
}

TEST_CASE("an exception of the simulation comes out of the SimGrid engine") {
  const auto engine = make_simgrid_engine(make_cluster(1, 8));
  CHECK_THROWS_AS(engine->run(Seconds(0), [](Seconds) -> std::optional<Seconds> { throw PolicyError("no"); }),
                  PolicyError);
}

TEST_CASE("a second SimGrid engine in one process is refused with a sentence") {
  const auto engine = make_simgrid_engine(make_cluster(1, 8));
  CHECK_THROWS_WITH_AS((void)make_simgrid_engine(make_cluster(1, 8)),
                       doctest::Contains("one SimGrid simulation"), SimulationError);
}

TEST_CASE("SimGrid's clock and a plain loop give the same bytes") {
  RandomStream random = RandomStreams(3).stream("engines");
  std::vector<JobLine> lines;
  double t = 0.0;
  for (int i = 0; i < 2000; ++i) {
    t += random.exponential(30.0); // fractional dates: rounding would show
    lines.push_back({t, static_cast<int>(1 + random.below(16)), random.exponential(300.0)});
  }
  const Workload workload = make_workload(lines);
  const Cluster cluster = make_cluster(4, 8);
  const Outcome plain = simulate_plain(workload, cluster, {.policy = "srtf", .placement = "best_fit"});
  const PolicyRegistry registry = builtin_policies();
  const auto scheduler = registry.find("srtf")->make(PolicyOptions::defaults(registry.find("srtf")->schema));
  const auto engine = make_simgrid_engine(cluster);
  const Outcome simgrid = simulate(workload, cluster,
                                   {.policy = "srtf",
                                    .scheduler = *scheduler,
                                    .placement = find_placement("best_fit")->make(),
                                    .information = {},
                                    .switch_cost = {},
                                    .seed = 1,
                                    .options = {}},
                                   *engine);
  CHECK(jobs_csv(plain, workload) == jobs_csv(simgrid, workload));
  CHECK(timeline_csv(plain) == timeline_csv(simgrid));
}

TEST_CASE("SimGrid's version is known") {
  CHECK(simgrid_version().starts_with("3."));
}
