// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "tests/support/pipeline_cases.hpp"
#include "vtrain_core/pipeline/schedule.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::pipeline;
using namespace vtrain::pipeline::test;

namespace {

// "F0 F0' B0" and so on; one dash for each chunk above 0.
std::string text(const std::vector<Operation>& order) {
  std::string text;
  for (const Operation& o : order) {
    text += (text.empty() ? "" : " ") + std::string(1, "FBW"[static_cast<std::size_t>(o.kind)]) +
            std::to_string(o.micro_batch) + std::string(o.chunk, '\'');
  }
  return text;
}

std::string order_text(const Shape& shape, std::size_t stage) {
  return text(make_schedule(shape.kind, shape.stages, shape.micro_batches, shape.chunks).order[stage]);
}

int counted_peak(const Schedule& schedule, std::size_t stage) {
  const OperationKind last = schedule.split ? OperationKind::weight : OperationKind::backward;
  int live = 0;
  int peak = 0;
  for (const Operation& o : schedule.order[stage]) {
    live += o.kind == OperationKind::forward ? 1 : 0;
    peak = std::max(peak, live);
    live -= o.kind == last ? 1 : 0;
  }
  CHECK(live == 0);
  return peak;
}

} // namespace

TEST_CASE("schedules are called as the field calls them") {
  CHECK(to_string(ScheduleKind::gpipe) == "gpipe");
  CHECK(to_string(ScheduleKind::one_f_one_b) == "1f1b");
  CHECK(to_string(ScheduleKind::interleaved) == "interleaved");
  CHECK(to_string(ScheduleKind::zb_h1) == "zb-h1");
  for (const ScheduleKind kind : kScheduleKinds)
    CHECK(parse_schedule(to_string(kind)) == kind);
  CHECK_FALSE(parse_schedule("1F1B"));
  CHECK_FALSE(parse_schedule("zb-h"));
  CHECK_FALSE(parse_schedule(""));
}

TEST_CASE("orders are those that the papers draw") {
  // 1F1B and ZB-H1: arXiv 2401.10241; interleaved: arXiv 2104.04473, figure 4.
  CHECK(order_text({ScheduleKind::gpipe, 4, 3, 1}, 1) == "F0 F1 F2 B0 B1 B2");
  CHECK(order_text({ScheduleKind::one_f_one_b, 4, 8, 1}, 2) ==
        "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
  CHECK(order_text({ScheduleKind::one_f_one_b, 4, 8, 1}, 3) ==
        "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
  CHECK(order_text({ScheduleKind::zb_h1, 4, 8, 1}, 0) ==
        "F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7");
  CHECK(order_text({ScheduleKind::zb_h1, 4, 8, 1}, 3) ==
        "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7");
  CHECK(order_text({ScheduleKind::interleaved, 4, 8, 2}, 0) ==
        "F0 F1 F2 F3 F0' F1' F2' F3' F4 F5 F6 B0' F7 B1' F4' B2' F5' B3' F6' B0 F7' B1 B2 B3 B4' B5' B6' B7' "
        "B4 B5 B6 B7");
}

TEST_CASE("fewer micro-batches than stages shorten the warm-up") {
  CHECK(order_text({ScheduleKind::one_f_one_b, 8, 2, 1}, 0) == "F0 F1 B0 B1");
  CHECK(order_text({ScheduleKind::zb_h1, 8, 2, 1}, 0) == "F0 F1 B0 W0 B1 W1");
  CHECK(order_text({ScheduleKind::zb_h1, 8, 2, 1}, 7) == "F0 B0 F1 B1 W0 W1");
  CHECK(order_text({ScheduleKind::interleaved, 2, 2, 2}, 0) == "F0 F1 F0' F1' B0' B1' B0 B1");
}

TEST_CASE("one stage takes forwards and backwards in turn, whatever its schedule, or all forwards first") {
  CHECK(order_text({ScheduleKind::gpipe, 1, 2, 1}, 0) == "F0 F1 B0 B1");
  CHECK(order_text({ScheduleKind::one_f_one_b, 1, 2, 1}, 0) == "F0 B0 F1 B1");
  CHECK(order_text({ScheduleKind::interleaved, 1, 2, 1}, 0) == "F0 B0 F1 B1");
  CHECK(order_text({ScheduleKind::zb_h1, 1, 2, 1}, 0) == "F0 B0 W0 F1 B1 W1");
}

TEST_CASE("each stage runs each operation once, forward before backward before weight gradient") {
  RandomStream random = RandomStreams(7).stream("orders");
  for (int i = 0; i < 200; ++i) {
    const Shape shape = draw_shape(random, kScheduleKinds[random.below(4)], {1, 24}, {1, 120}, 20'000);
    const Schedule schedule = make_schedule(shape.kind, shape.stages, shape.micro_batches, shape.chunks);
    const auto m = static_cast<std::size_t>(shape.micro_batches);
    const std::size_t kinds = schedule.split ? 3 : 2;
    REQUIRE(schedule.order.size() == static_cast<std::size_t>(shape.stages));
    for (const std::vector<Operation>& order : schedule.order) {
      std::vector<std::size_t> done(static_cast<std::size_t>(shape.chunks) * m, 0);
      bool in_turn = order.size() == done.size() * kinds;
      for (const Operation& o : order)
        in_turn = in_turn && done[o.chunk * m + static_cast<std::size_t>(o.micro_batch)]++ ==
                                 static_cast<std::size_t>(o.kind);
      CHECK_MESSAGE(in_turn, describe(shape, Messages::latency));
    }
  }
}

TEST_CASE("virtual stages go round the stages once for each chunk") {
  const Schedule schedule = make_schedule(ScheduleKind::interleaved, 4, 8, 3);
  CHECK(schedule.virtual_stages() == 12);
  CHECK(schedule.virtual_stage(2, 1) == 6);
  for (int u = 0; u < 12; ++u)
    CHECK(schedule.virtual_stage(schedule.stage_of(u), schedule.chunk_of(u)) == u);
}

TEST_CASE("the closed form of the activations in flight equals what the order holds") {
  RandomStream random = RandomStreams(11).stream("in flight");
  for (int i = 0; i < 200; ++i) {
    const Shape shape = draw_shape(random, kScheduleKinds[random.below(4)], {1, 32}, {1, 100}, 20'000);
    const Schedule schedule = make_schedule(shape.kind, shape.stages, shape.micro_batches, shape.chunks);
    for (int stage = 0; stage < shape.stages; ++stage) {
      const int peak = peak_in_flight(shape.kind, shape.stages, shape.micro_batches, shape.chunks, stage);
      CHECK_MESSAGE(peak == counted_peak(schedule, static_cast<std::size_t>(stage)),
                    describe(shape, Messages::latency));
    }
  }
}

TEST_CASE(
    "1F1B holds p-s micro-batches, ZB-H1 p on each stage, interleaved a little more than p on the first") {
  for (int stage = 0; stage < 8; ++stage) {
    CHECK(peak_in_flight(ScheduleKind::gpipe, 8, 32, 1, stage) == 32);
    CHECK(peak_in_flight(ScheduleKind::one_f_one_b, 8, 32, 1, stage) == 8 - stage);
    CHECK(peak_in_flight(ScheduleKind::zb_h1, 8, 32, 1, stage) == 8);
    CHECK(peak_in_flight(ScheduleKind::interleaved, 8, 32, 2, stage) == 2 * (7 - stage) + 8 + 1);
  }
  CHECK(peak_in_flight(ScheduleKind::one_f_one_b, 8, 3, 1, 0) == 3);
  CHECK(peak_in_flight(ScheduleKind::gpipe, 2, 2147483647, 1, 0) == 2147483647);
}

TEST_CASE("an impossible shape is told in a sentence") {
  const auto fault = [](const Shape& s) {
    return schedule_fault(s.kind, s.stages, s.micro_batches, s.chunks).value_or("none");
  };
  CHECK(fault({ScheduleKind::one_f_one_b, 0, 1, 1}) == "a pipeline has at least 1 stage, not 0");
  CHECK(fault({ScheduleKind::gpipe, 2, -3, 1}) == "an iteration has at least 1 micro-batch, not -3");
  CHECK(fault({ScheduleKind::interleaved, 2, 2, 0}) == "a stage has at least 1 model chunk, not 0");
  CHECK(fault({ScheduleKind::one_f_one_b, 4, 8, 2}) ==
        "the 1f1b schedule has 1 model chunk a stage: 2 chunks need the interleaved schedule");
  CHECK(fault({ScheduleKind::interleaved, 4, 10, 2}) ==
        "the interleaved schedule needs a multiple of its 4 stages as micro-batches, not 10");
  CHECK(fault({ScheduleKind::interleaved, 4, 8, 1}) ==
        "the interleaved schedule needs at least 2 model chunks a stage: 1 chunk is the 1f1b schedule");
  CHECK(fault({ScheduleKind::interleaved, 1, 8, 2}) ==
        "model chunks are interleaved over several stages: a single stage has 1 chunk, not 2");
  CHECK(fault({ScheduleKind::gpipe, 1, 8, 2}) ==
        "the gpipe schedule has 1 model chunk a stage: 2 chunks need the interleaved schedule");
  CHECK(fault({ScheduleKind::interleaved, 300, 300, 300}) ==
        "a pipeline has at most 65535 chunks on all stages, not 90000");
  CHECK(fault({ScheduleKind::one_f_one_b, 65536, 1, 1}) ==
        "a pipeline has at most 65535 chunks on all stages, not 65536");
  CHECK(fault({ScheduleKind::interleaved, 2, 2147483646, 2}) ==
        "a stage has at most 2147483647 forwards an iteration, not 4294967292");
  CHECK(fault({ScheduleKind::interleaved, 4, 8, 2}) == "none");
  for (const ScheduleKind kind : kScheduleKinds)
    CHECK(fault({kind, 1, 7, 1}) == "none");
}

TEST_CASE("writing out an impossible schedule is a mistake") {
  CHECK_THROWS_AS(static_cast<void>(make_schedule(ScheduleKind::interleaved, 4, 10, 2)), InternalError);
  CHECK_THROWS_AS(static_cast<void>(peak_in_flight(ScheduleKind::gpipe, 0, 1, 1, 0)), InternalError);
  CHECK_THROWS_AS(static_cast<void>(warm_up_forwards(ScheduleKind::gpipe, 1, 0, 1, 0)), InternalError);
}
