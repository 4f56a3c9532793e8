// SPDX-License-Identifier: MIT
#include "jobs/workload.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace vtrain;

TEST_CASE("equal texts have one symbol and symbols count up") {
  StringPool pool;
  CHECK(pool.intern("") == Symbol(0));
  CHECK(pool.intern("a") == Symbol(1));
  CHECK(pool.intern("b") == Symbol(2));
  CHECK(pool.intern("a") == Symbol(1));
  CHECK(pool.size() == 3);
  CHECK(pool.text(Symbol(0)).empty());
  CHECK(pool.text(Symbol(2)) == "b");
}

TEST_CASE("a pool keeps many texts where they are") {
  StringPool pool;
  const std::string_view first = pool.text(pool.intern("first"));
  for (int i = 0; i < 100'000; ++i)
    CHECK_EQ(pool.intern("job-" + std::to_string(i)).value(), static_cast<std::uint32_t>(i) + 2);
  CHECK(first == "first");
  CHECK(pool.text(pool.intern("first")).data() == first.data());
  CHECK(pool.intern("job-77777").value() == 77779);
  CHECK(pool.size() == 100'002);
}

TEST_CASE("a pool keeps texts of any length and any bytes") {
  StringPool pool;
  const std::string large(1'000'000, 'x');
  const std::string zeros("a\0b", 3);
  const Symbol a = pool.intern(large);
  const Symbol b = pool.intern(zeros);
  CHECK(pool.text(a) == large);
  CHECK(pool.text(b) == zeros);
  CHECK(pool.intern("a") != b);
}

TEST_CASE("a copy of a pool is independent of the original and has the same symbols") {
  StringPool copy;
  {
    StringPool original;
    original.intern("a");
    original.intern("b");
    copy = original;
    original.intern("c");
    CHECK(original.size() == 4);
  }
  CHECK(copy.size() == 3);
  CHECK(copy.text(Symbol(2)) == "b");
  CHECK(copy.intern("d") == Symbol(3));
  const StringPool moved = std::move(copy);
  CHECK(moved.text(Symbol(3)) == "d");
}

TEST_CASE("a funnel adds up rows with one reason") {
  TraceFunnel funnel;
  funnel.drop("asks for 0 GPUs");
  funnel.drop("other", 5);
  funnel.drop("asks for 0 GPUs", 2);
  REQUIRE(funnel.dropped.size() == 2);
  CHECK(funnel.dropped[0].reason == "asks for 0 GPUs");
  CHECK(funnel.dropped[0].rows == 3);
  CHECK(funnel.dropped[1].rows == 5);
}

TEST_CASE("under recorded throughput a job works only on the GPUs it asked for") {
  Workload workload;
  Job job;
  job.gpus = GpuCount(4);
  workload.jobs.push_back(job);
  CHECK(workload.rate(workload.job(JobId(0)), GpuCount(4)) == PerSecond(1.0));
  CHECK_FALSE(workload.rate(workload.job(JobId(0)), GpuCount(2)));
  CHECK_FALSE(workload.rate(workload.job(JobId(0)), GpuCount(8)));
}

TEST_CASE("under a curve a job works at the curve's rate") {
  Workload workload;
  workload.curves.emplace_back(std::vector<ThroughputLevel>{{GpuCount(2), PerSecond(3.0)}});
  Job job;
  job.gpus = GpuCount(4);
  job.curve = CurveId(1);
  job.name = workload.strings.intern("x");
  workload.jobs.push_back(job);
  CHECK(workload.rate(workload.job(JobId(0)), GpuCount(2)) == PerSecond(3.0));
  CHECK_FALSE(workload.rate(workload.job(JobId(0)), GpuCount(4)));
  CHECK(workload.name(JobId(0)) == "x");
}
