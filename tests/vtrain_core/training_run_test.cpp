// SPDX-License-Identifier: MIT
// Days, dollars and checkpoints of a training run, against closed forms.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/search/training_run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE(
    "MT-NLG's 68,000 iterations of 42.59 s on 2,240 GPUs at 5 USD take 33.52 days and 9.01 million USD") {
  NodeType node = node_type("dgx-a100-80g");
  node.gpu_price = UsdPerSecond(5.0 / kHour.base());
  const TrainingRun run = training_run(Seconds(42.59), 68000, 2240, node, std::nullopt);
  CHECK(run.wall / kDay == close_to(33.52).epsilon(1e-4));
  CHECK(*run.cost_usd == close_to(9.01e6).epsilon(1e-3));
  CHECK(run.gpu_hours == close_to(*run.cost_usd / 5));
  CHECK(run.useful_share == 1);
  CHECK_FALSE(run.checkpoint_interval);
  node.gpu_price.reset();
  CHECK_FALSE(training_run(Seconds(1), 1, 1, node, std::nullopt).cost_usd);
}

TEST_CASE("tokens are rounded up to whole iterations") {
  ModelShape model = gpt(105, 20480, 128, 51200);
  model.sequence_length = 2048;
  CHECK(iterations_for(270e9, 1920, model) == 68665);
  CHECK(iterations_for(1, 1920, model) == 1);
  CHECK(iterations_for(1920.0 * 2048, 1920, model) == 1);
  CHECK(iterations_for(1920.0 * 2048 + 1, 1920, model) == 2);
}

TEST_CASE("the checkpoint interval is Young's to first order and the best one of the expected time") {
  const Seconds write{60};
  // Young 1974: sqrt(2 w M).
  CHECK(checkpoint_interval(write, Seconds(1e8)).base() == close_to(std::sqrt(2 * 60 * 1e8)).epsilon(1e-3));
  const auto expected = [&](double interval, double mtbf) { // Daly 2006, equation 20, a second of work
    return mtbf * std::expm1((interval + write.base()) / mtbf) / interval;
  };
  for (const double mtbf : {600.0, 3600.0, 86400.0, 1e7}) {
    CAPTURE(mtbf);
    const double best = checkpoint_interval(write, Seconds(mtbf)).base();
    double least = expected(best, mtbf);
    for (double factor = 0.2; factor < 5; factor *= 1.01)
      least = std::min(least, expected(best * factor, mtbf));
    CHECK(expected(best, mtbf) < least * 1.0005);
  }
  CHECK(checkpoint_interval(Seconds(200), Seconds(100)) == Seconds(100));
}

TEST_CASE(
    "failures lengthen a run, more nodes or slower checkpoints more so, and never without limit for none") {
  const NodeType node = node_type("dgx-a100-80g");
  const auto wall = [&](std::int64_t gpus, double mtbf_days, double write) {
    return training_run(Seconds(10), 100000, gpus, node,
                        Reliability{kDay * mtbf_days, Seconds(write), Seconds(300)});
  };
  const TrainingRun none = training_run(Seconds(10), 100000, 1024, node, std::nullopt);
  const TrainingRun some = wall(1024, 60, 60);
  CHECK(some.wall > none.wall);
  CHECK(some.useful_share == close_to(none.wall / some.wall));
  CHECK(wall(2048, 60, 60).wall > some.wall);
  CHECK(wall(1024, 60, 600).wall > some.wall);
  CHECK(wall(1024, 30, 60).wall > some.wall);
  CHECK(wall(1024, 1e9, 1e-3).wall / none.wall == close_to(1).epsilon(1e-3));
  CHECK(some.gpu_hours == close_to(some.wall / kHour * 1024));
}
