// SPDX-License-Identifier: MIT
// The policy of docs/writing-a-policy.md, which is compiled into this program, does what the document says.
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

namespace vtrain {
[[nodiscard]] PolicyEntry narrowest_first_policy();
} // namespace vtrain

TEST_CASE("the policy of the documentation serves narrow gangs first") {
  PolicyRegistry registry = builtin_policies();
  registry.add(narrowest_first_policy());
  const PolicyEntry* entry = registry.find("narrowest_first");
  REQUIRE(entry != nullptr);
  TestRun run{.policy = entry->name, .scheduler = entry->make(PolicyOptions::defaults(entry->schema))};
  const Workload workload = make_workload({{0, 8, 100}, {1, 8, 10}, {2, 4, 10}, {3, 2, 10}, {4, 4, 10}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), std::move(run));
  const auto start_of = [&](std::uint32_t rank) { return outcome.state->runs[rank].first_start->base(); };
  CHECK(start_of(3) == 100); // 2 GPUs: the narrowest
  CHECK(start_of(2) == 100); // 4 GPUs fit beside it
  CHECK(start_of(4) == 110); // 4 more do not, and block the rest
  CHECK(start_of(1) == 120);
}
