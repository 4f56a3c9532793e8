// SPDX-License-Identifier: MIT
#include "schedulers/information.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace vtrain;
using namespace vtrain::literals;
using namespace vtrain::test;

namespace {

using Duration = InformationOptions::Duration;

InformationOptions read(const std::string& yaml, Diagnostics& diagnostics) {
  ConfigNode effective;
  const ConfigNode node = parse_yaml(yaml, "test", diagnostics);
  ConfigReader reader(node, "information", diagnostics, effective);
  const InformationOptions options = InformationOptions::read(reader);
  reader.finish();
  return options;
}

InformationOptions read(const std::string& yaml) {
  Diagnostics diagnostics;
  const InformationOptions options = read(yaml, diagnostics);
  diagnostics.throw_if_errors();
  return options;
}

JobRun run_with(double work_left) {
  JobRun run;
  run.work_left = work_left;
  return run;
}

} // namespace

TEST_CASE("what may be known of run times is read and described") {
  CHECK(read("{}").describe() == "exact");
  CHECK(read("{duration: exact}").duration == Duration::exact);
  CHECK(read("{duration: none}").describe() == "none");
  const auto options = read("{duration: {estimate: {factor: 2, sigma: 0.5}}}");
  CHECK(options.duration == Duration::estimate);
  CHECK(options.describe() == "estimate(factor=2,sigma=0.5)");
  CHECK(read("{duration: {estimate: {}}}").describe() == "estimate(factor=1,sigma=0)");
}

TEST_CASE("wrong information is refused with a place") {
  for (const char* yaml : {"{duration: exactly}", "{duration: {estimates: {}}}", "{duration: [exact]}",
                           "{duration: {estimate: {factor: 0}}}", "{duration: {estimate: {sigma: -1}}}",
                           "{duration: {estimate: {bias: 1}}}", "{durations: exact}"}) {
    CAPTURE(yaml);
    Diagnostics diagnostics;
    static_cast<void>(read(yaml, diagnostics));
    CHECK(diagnostics.has_errors());
  }
}

TEST_CASE("exact information is the truth") {
  const Workload workload = make_workload({{0, 4, 100}});
  const Information known(workload, {}, RandomStreams(1));
  CHECK(known.knows_duration());
  CHECK(known.duration(JobId(0)) == 100_s);
  CHECK(known.remaining(JobId(0), run_with(30.0), 0_s) == 30_s);
  CHECK(known.rate(JobId(0), 4_gpus) == PerSecond(1.0));
  CHECK_FALSE(known.rate(JobId(0), 2_gpus).has_value());
}

TEST_CASE("an estimate shrinks by what was done and never below zero") {
  const Workload workload = make_workload({{0, 1, 100}});
  const Information twice(workload, {.duration = Duration::estimate, .factor = 2.0}, RandomStreams(1));
  CHECK(twice.duration(JobId(0)) == 200_s);
  CHECK(twice.remaining(JobId(0), run_with(100.0), 0_s) == 200_s);
  CHECK(twice.remaining(JobId(0), run_with(30.0), 0_s) == 130_s);
  const Information half(workload, {.duration = Duration::estimate, .factor = 0.5}, RandomStreams(1));
  CHECK(half.remaining(JobId(0), run_with(70.0), 0_s) == 20_s);
  CHECK(half.remaining(JobId(0), run_with(30.0), 0_s) == 0_s);
}

TEST_CASE("estimates are lognormal around the truth and belong to the seed") {
  const Workload workload = make_workload(std::vector<JobLine>(4000, JobLine{0, 1, 100}));
  const InformationOptions options{.duration = Duration::estimate, .factor = 3.0, .sigma = 0.5};
  const Information first(workload, options, RandomStreams(1));
  const Information again(workload, options, RandomStreams(1));
  const Information other(workload, options, RandomStreams(2));
  double sum = 0.0;
  double squares = 0.0;
  std::size_t same = 0;
  for (std::uint32_t rank = 0; rank < 4000; ++rank) {
    const double log = std::log(first.duration(JobId(rank)).base() / 300.0);
    sum += log;
    squares += log * log;
    REQUIRE(first.duration(JobId(rank)) == again.duration(JobId(rank)));
    same += first.duration(JobId(rank)) == other.duration(JobId(rank)) ? 1 : 0;
  }
  CHECK(std::abs(sum / 4000) < 0.03);
  CHECK(std::sqrt(squares / 4000) == doctest::Approx(0.5).epsilon(0.05));
  CHECK(same < 10);
}

TEST_CASE("a run time that may not be known is refused") {
  const Workload workload = make_workload({{0, 1, 100}});
  const Information nothing(workload, {.duration = Duration::none}, RandomStreams(1));
  CHECK_FALSE(nothing.knows_duration());
  CHECK_THROWS_WITH_AS(static_cast<void>(nothing.duration(JobId(0))), doctest::Contains("'j0'"),
                       SimulationError);
  CHECK_THROWS_AS(static_cast<void>(nothing.remaining(JobId(0), run_with(1.0), 0_s)), SimulationError);
}
