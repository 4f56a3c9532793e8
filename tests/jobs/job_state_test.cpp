// SPDX-License-Identifier: MIT
#include "jobs/job_state.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

using namespace vtrain;

namespace {
using enum JobState;
constexpr std::array<JobState, 8> kAll = {future,    pending, starting,  running,
                                          completed, failed,  cancelled, rejected};

/// A way from `future` to each state.
JobLife life_in(JobState state) {
  JobLife life;
  if (state == future)
    return life;
  life.enter(pending);
  if (state == starting)
    life.enter(starting);
  if (state == running || state == completed || state == failed)
    life.enter(running);
  if (life.state() != state && state != pending)
    life.enter(state);
  return life;
}
} // namespace

TEST_CASE("a job's life allows these transitions and no others") {
  // clang-format off
  //                      to: future pending starting running completed failed cancelled rejected
  constexpr std::array<std::array<bool, 8>, 8> kExpected = {{
      /* future    */ {       false, true,   false,   false,  false,    false, false,    true},
      /* pending   */ {       false, false,  true,    true,   false,    false, true,     true},
      /* starting  */ {       false, true,   true,    true,   false,    true,  true,     false},
      /* running   */ {       false, true,   true,    true,   true,     true,  true,     false},
      /* completed */ {},
      /* failed    */ {},
      /* cancelled */ {},
      /* rejected  */ {},
  }};
  // clang-format on
  for (std::size_t from = 0; from < kAll.size(); ++from)
    for (std::size_t to = 0; to < kAll.size(); ++to) {
      CAPTURE(from);
      CAPTURE(to);
      CHECK(is_legal(kAll[from], kAll[to]) == kExpected[from][to]);
      JobLife life = life_in(kAll[from]);
      REQUIRE(life.state() == kAll[from]);
      if (kExpected[from][to]) {
        life.enter(kAll[to]);
        CHECK(life.state() == kAll[to]);
      } else {
        CHECK_THROWS_AS(life.enter(kAll[to]), SimulationError);
        CHECK(life.state() == kAll[from]);
      }
    }
}

TEST_CASE("an illegal transition names both states") {
  JobLife life;
  CHECK_THROWS_WITH_AS(life.enter(running), "a job cannot go from future to running", SimulationError);
}

TEST_CASE("completed, failed, cancelled and rejected are final") {
  for (const JobState state : kAll) {
    CHECK(is_final(state) ==
          (state == completed || state == failed || state == cancelled || state == rejected));
    bool leads_on = false;
    for (const JobState next : kAll)
      leads_on = leads_on || is_legal(state, next);
    CHECK(leads_on != is_final(state));
  }
}

TEST_CASE("a job holds GPUs while it starts and runs") {
  for (const JobState state : kAll)
    CHECK(holds_gpus(state) == (state == starting || state == running));
}

TEST_CASE("states read as Slurm writes them") {
  const std::array<std::string, 8> expected = {"PENDING",   "PENDING", "RUNNING",   "RUNNING",
                                               "COMPLETED", "FAILED",  "CANCELLED", "REJECTED"};
  for (std::size_t i = 0; i < kAll.size(); ++i)
    CHECK(to_string(kAll[i]) == expected[i]);
}
