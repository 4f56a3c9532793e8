// SPDX-License-Identifier: MIT
#include "app/progress.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

TEST_CASE("a line of progress shows simulated time, jobs, events and the time to go") {
  const SimulationProgress progress{.elapsed = Seconds(12.3 * 86400),
                                    .jobs_total = 1000,
                                    .jobs_ended = 450,
                                    .pending = 45,
                                    .running = 123,
                                    .events = 1'200'000};
  CHECK(progress_text("fifo", progress, 1.5) ==
        "fifo  t=12.3 d  45 % of jobs  ETA 2 s  running 123  queued 45  1.2 M events  800 k events/s");
}

TEST_CASE("a line of progress at the very start promises nothing") {
  CHECK(progress_text("fifo", {}, 0.0) == "fifo  t=0 s  0 % of jobs  running 0  queued 0  0 events");
}

TEST_CASE("progress that is switched off writes nothing and is never due") {
  StatusLine line(false);
  CHECK_FALSE(line.is_due());
  line.show("x");
  CompareProgress compare({"a", "b"}, false);
  compare.finished(1);
}
