// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "common/random.hpp"
#include "schedulers/gang_classes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace vtrain;
using namespace vtrain::literals;

TEST_CASE("the first job that fits comes first by key and then by rank") {
  GangClasses jobs;
  jobs.insert({2.0, JobId(0), 1_gpus});
  jobs.insert({1.0, JobId(3), 4_gpus});
  jobs.insert({1.0, JobId(2), 8_gpus});
  jobs.open_all();
  REQUIRE(jobs.first_open(8_gpus) != nullptr);
  CHECK(jobs.first_open(8_gpus)->head.job == JobId(2));
  CHECK(jobs.first_open(7_gpus)->head.job == JobId(3));
  CHECK(jobs.first_open(3_gpus)->head.job == JobId(0));
  CHECK(jobs.first_open(0_gpus) == nullptr);
  jobs.first_open(8_gpus)->open = false;
  CHECK(jobs.first_open(8_gpus)->head.job == JobId(3));
}

TEST_CASE("a class closes when its last job leaves") {
  GangClasses jobs;
  jobs.insert({1.0, JobId(0), 2_gpus});
  jobs.insert({0.5, JobId(1), 2_gpus});
  jobs.open_all();
  CHECK(jobs.erase(JobId(1)).key == 0.5);
  CHECK(jobs.first_open(2_gpus)->head.job == JobId(0));
  jobs.erase(JobId(0));
  CHECK(jobs.first_open(2_gpus) == nullptr);
  CHECK(jobs.empty());
}

TEST_CASE("jobs of all sizes can be kept together") {
  GangClasses jobs(GangClasses::Grouping::together);
  jobs.insert({2.0, JobId(0), 1_gpus});
  jobs.insert({1.0, JobId(1), 64_gpus});
  REQUIRE(jobs.classes().size() == 1);
  CHECK(jobs.classes()[0].head.job == JobId(1));
  CHECK(jobs.classes()[0].head.gpus == 64_gpus);
}

TEST_CASE("an order by gang size follows any sequence of changes") {
  RandomStream random = RandomStreams(5).stream("gang classes");
  GangClasses jobs;
  std::vector<OrderedJob> plain;
  for (int step = 0; step < 5000; ++step) {
    const JobId id(static_cast<std::uint32_t>(random.below(60)));
    const auto at =
        std::find_if(plain.begin(), plain.end(), [id](const OrderedJob& item) { return item.job == id; });
    REQUIRE(jobs.contains(id) == (at != plain.end()));
    if (at == plain.end()) {
      const OrderedJob item{static_cast<double>(random.below(8)), id,
                            GpuCount(1 + static_cast<int>(random.below(5)))};
      jobs.insert(item);
      plain.push_back(item);
    } else {
      REQUIRE(jobs.erase(id).key == at->key);
      plain.erase(at);
    }
    REQUIRE(jobs.size() == plain.size());
    jobs.open_all();
    const GpuCount limit(static_cast<int>(random.below(6)));
    std::optional<OrderedJob> first;
    for (const OrderedJob& item : plain)
      if (item.gpus <= limit && (!first || item < *first))
        first = item;
    const auto* found = jobs.first_open(limit);
    REQUIRE((found != nullptr) == first.has_value());
    if (first)
      REQUIRE(found->head.job == first->job);
  }
}

TEST_CASE("a job is in an order once") {
  GangClasses jobs;
  jobs.insert({1.0, JobId(0), 2_gpus});
  CHECK_THROWS_AS(jobs.insert({2.0, JobId(0), 2_gpus}), InternalError);
  CHECK_THROWS_AS(jobs.erase(JobId(1)), InternalError);
}
