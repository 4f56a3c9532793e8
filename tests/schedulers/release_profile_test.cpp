// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "schedulers/release_profile.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

using namespace vtrain;
using namespace vtrain::literals;

TEST_CASE("the shadow is where enough running jobs have ended") {
  ReleaseProfile running;
  running.insert(JobId(0), 4_gpus, 100_s);
  running.insert(JobId(1), 2_gpus, 50_s);
  running.insert(JobId(2), 3_gpus, 100_s);
  auto shadow = running.shadow(10_s, 1_gpus, 3_gpus);
  CHECK(shadow.date == 50_s);
  CHECK(shadow.extra == 0);
  shadow = running.shadow(10_s, 1_gpus, 4_gpus); // both that end at 100 are free then
  CHECK(shadow.date == 100_s);
  CHECK(shadow.extra == 6);
  shadow = running.shadow(60_s, 1_gpus, 3_gpus); // job 1 is overdue
  CHECK(shadow.date == 60_s);
  CHECK(shadow.extra == 0);
  shadow = running.shadow(60_s, 4_gpus, 3_gpus); // blocked by something else than numbers
  CHECK(shadow.date == 60_s);
  CHECK(shadow.extra == 3);
  CHECK(std::isinf(running.shadow(60_s, 1_gpus, 11_gpus).date.base()));
  running.erase(JobId(1));
  CHECK(running.shadow(60_s, 3_gpus, 4_gpus).date == 100_s);
}

TEST_CASE("the shadow is that of a full scan after any sequence of changes") {
  struct Running {
    int gpus;
    double end;
  };
  RandomStream random = RandomStreams(21).stream("release profile");
  ReleaseProfile profile;
  std::map<std::uint32_t, Running> plain;
  for (int step = 0; step < 20000; ++step) {
    const auto rank = static_cast<std::uint32_t>(random.below(40));
    if (plain.contains(rank)) {
      profile.erase(JobId(rank));
      plain.erase(rank);
    } else {
      const Running job{1 + static_cast<int>(random.below(8)), static_cast<double>(random.below(30))};
      profile.insert(JobId(rank), GpuCount(job.gpus), Seconds(job.end));
      plain[rank] = job;
    }
    const double now = static_cast<double>(random.below(20));
    const int free = static_cast<int>(random.below(10));
    const int needed = 1 + static_cast<int>(random.below(60));
    double date = now;
    int free_then = 0;
    for (;; ++date) { // dates are whole numbers
      free_then = free;
      for (const auto& [id, job] : plain)
        free_then += job.end <= date ? job.gpus : 0;
      if (free_then >= needed || date > 40.0)
        break;
    }
    const auto shadow = profile.shadow(Seconds(now), GpuCount(free), GpuCount(needed));
    if (free_then < needed) {
      REQUIRE(std::isinf(shadow.date.base()));
    } else {
      REQUIRE(shadow.date == Seconds(date));
      REQUIRE(shadow.extra == free_then - needed);
    }
  }
}
