// SPDX-License-Identifier: MIT
// Most of this file is checked by the compiler: what must not compile is asked for in concepts.
#include "common/units.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <unordered_set>

using namespace vtrain;
using namespace vtrain::literals;

namespace {
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtractable = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept Divisible = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Increasable = requires(A a, B b) {
  a += b;
};
} // namespace

// A quantity costs what a double costs.
static_assert(sizeof(Seconds) == sizeof(double) && std::is_trivially_copyable_v<Seconds>);
static_assert(sizeof(JobId) == sizeof(std::uint32_t) && std::is_trivially_copyable_v<JobId>);
static_assert(sizeof(GpuCount) == sizeof(std::int32_t));

// Products and ratios have the dimension they should have.
static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond(1.0)), Seconds>);
static_assert(std::is_same_v<decltype(Bytes{} / Seconds(1.0)), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Flops{} / FlopsPerSecond(1.0)), Seconds>);
static_assert(std::is_same_v<decltype(Flops{} / Seconds(1.0)), FlopsPerSecond>);
static_assert(std::is_same_v<decltype(Watts{} * Seconds{}), Joules>);
static_assert(std::is_same_v<decltype(UsdPerSecond{} * Seconds{}), Usd>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes(1.0)), double>);
static_assert(std::is_same_v<decltype(Seconds{} * 2.0), Seconds>);
static_assert(std::is_same_v<decltype(2.0 * Seconds{}), Seconds>);
static_assert(std::is_same_v<decltype(Seconds{} / 2.0), Seconds>);

// What has a meaning compiles...
static_assert(Addable<Seconds, Seconds> && Subtractable<Bytes, Bytes> && Comparable<Seconds, Seconds>);
static_assert(Addable<GpuCount, GpuCount> && Comparable<JobId, JobId>);
// ... and what has none does not.
static_assert(!Addable<Seconds, Bytes> && !Addable<Seconds, double> && !Addable<double, Seconds>);
static_assert(!Subtractable<Flops, FlopsPerSecond> && !Increasable<Seconds, double>);
static_assert(!Comparable<Seconds, double> && !Comparable<Seconds, Bytes> && !Comparable<Bytes, Flops>);
static_assert(!Addable<GpuCount, NodeCount> && !Addable<GpuCount, int> && !Comparable<GpuCount, NodeCount>);
static_assert(!Addable<JobId, JobId> && !Addable<JobId, int> && !Subtractable<NodeId, NodeId>);
static_assert(!Multipliable<JobId, int> && !Divisible<GpuId, GpuId>);
static_assert(!Comparable<JobId, NodeId> && !Comparable<NodeId, GpuId> && !Comparable<JobId, unsigned>);
static_assert(!std::is_convertible_v<double, Seconds> && !std::is_convertible_v<Seconds, double>);
static_assert(!std::is_convertible_v<int, GpuCount> && !std::is_convertible_v<GpuCount, int>);
static_assert(!std::is_convertible_v<std::uint32_t, JobId> && !std::is_convertible_v<JobId, std::uint32_t>);
static_assert(!std::is_convertible_v<JobId, NodeId> && !std::is_constructible_v<JobId, NodeId>);
static_assert(!std::is_default_constructible_v<JobId>);
static_assert(!std::is_constructible_v<Seconds, Bytes>);

TEST_CASE("a transfer of 1 GiB at 400 Gbit/s takes 21 ms") {
  CHECK((1_GiB / 400_Gbps).base() == doctest::Approx(0.02147483648));
}

TEST_CASE("quantities add, scale and compare") {
  Seconds total = 2.0_s + 3_s;
  total += kMinute;
  total -= 5_s;
  CHECK(total == kMinute);
  CHECK(-total == Seconds(-60.0));
  CHECK(kHour == 60.0 * kMinute);
  CHECK(kDay / 24.0 == kHour);
  CHECK(kDay / kHour == 24.0);
  CHECK(kMinute < kHour);
  CHECK(Seconds() == Seconds(0.0));
}

TEST_CASE("energy is power times time and money is price times time") {
  CHECK((Watts(400.0) * kHour).base() == 1.44e6);
  CHECK((UsdPerSecond(0.001) * kHour).base() == doctest::Approx(3.6));
  CHECK((Flops(624e12) / 312_TFLOPS).base() == 2.0);
}

TEST_CASE("counts of one kind add") {
  GpuCount gpus = GpuCount(4) + 4_gpus;
  gpus -= GpuCount(2);
  gpus += GpuCount(1);
  CHECK(gpus.value() == 7);
  CHECK((GpuCount(1) - GpuCount(3)).value() == -2);
  CHECK(GpuCount(3) < GpuCount(4));
}

TEST_CASE("ids compare and hash") {
  const std::unordered_set<JobId> jobs{JobId(1), JobId(2), JobId(1)};
  CHECK(jobs.size() == 2);
  CHECK(JobId(1) < JobId(2));
  CHECK(NodeId(3).value() == 3);
}
