// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "common/random.hpp"
#include "schedulers/min_tournament.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

using namespace vtrain;

TEST_CASE("the first job in rank order within a bound is found") {
  MinTournament jobs;
  CHECK(jobs.first() == std::nullopt);
  jobs.insert(JobId(2), 30.0);
  jobs.insert(JobId(5), 10.0);
  jobs.insert(JobId(7), 0.0);
  CHECK(jobs.first() == JobId(2));
  CHECK(jobs.first_at_most(29.0) == JobId(5));
  CHECK(jobs.first_at_most(5.0) == JobId(7));
  CHECK(jobs.first_at_most(-1.0) == std::nullopt);
  jobs.erase(JobId(7));
  CHECK(jobs.first_at_most(5.0) == std::nullopt);
  CHECK(jobs.first_at_most(std::numeric_limits<double>::infinity()) == JobId(2));
}

TEST_CASE("a tournament follows any sequence of changes and jobs that come back") {
  RandomStream random = RandomStreams(9).stream("tournament");
  MinTournament jobs;
  std::map<std::uint32_t, double> plain;
  std::uint32_t next = 0;
  for (int step = 0; step < 20000; ++step) {
    const double number = static_cast<double>(random.below(50));
    if (random.below(100) < 48) {
      jobs.insert(JobId(next), number);
      plain[next] = number;
      next += 1 + static_cast<std::uint32_t>(random.below(3));
    } else if (random.below(100) < 4 && next > 0) {
      const auto rank = static_cast<std::uint32_t>(random.below(next));
      if (!plain.contains(rank)) {
        jobs.insert(JobId(rank), number);
        plain[rank] = number;
      }
    } else if (!plain.empty()) {
      auto victim = plain.lower_bound(static_cast<std::uint32_t>(random.below(next)));
      if (victim == plain.end())
        victim = plain.begin();
      jobs.erase(JobId(victim->first));
      plain.erase(victim);
    }
    REQUIRE(jobs.empty() == plain.empty());
    const double bound = static_cast<double>(random.below(60)) - 5.0;
    std::optional<JobId> expected;
    for (const auto& [rank, value] : plain)
      if (!expected && value <= bound)
        expected = JobId(rank);
    REQUIRE(jobs.first_at_most(bound) == expected);
    if (!plain.empty())
      REQUIRE(jobs.first() == JobId(plain.begin()->first));
  }
}

TEST_CASE("a job is in a tournament once and its number is finite") {
  MinTournament jobs;
  jobs.insert(JobId(3), 1.0);
  CHECK_THROWS_AS(jobs.insert(JobId(3), 2.0), InternalError);
  CHECK_THROWS_AS(jobs.insert(JobId(4), std::numeric_limits<double>::infinity()), InternalError);
  CHECK_THROWS_AS(jobs.erase(JobId(4)), InternalError);
  jobs.erase(JobId(3));
  CHECK_THROWS_AS(jobs.erase(JobId(3)), InternalError);
}
