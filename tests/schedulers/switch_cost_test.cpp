// SPDX-License-Identifier: MIT
#include "schedulers/switch_cost.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::literals;

namespace {

struct ReadCost {
  SwitchCost cost;
  ConfigNode effective;
  Diagnostics diagnostics;
};

ReadCost read(const std::string& yaml) {
  ReadCost result;
  const ConfigNode node = parse_yaml(yaml, "test", result.diagnostics);
  ConfigReader reader(node, "", result.diagnostics, result.effective);
  result.cost = SwitchCost::read(reader, "switch_cost");
  reader.finish();
  return result;
}

} // namespace

TEST_CASE("without a switch cost nothing is paid") {
  for (const char* yaml : {"{}", "switch_cost: none"}) {
    const ReadCost result = read(yaml);
    CHECK_FALSE(result.diagnostics.has_errors());
    CHECK(result.cost.is_free());
    CHECK(result.cost.cost(SwitchKind::resume, 8_gpus) == 0_s);
    REQUIRE(result.effective.find("switch_cost") != nullptr);
    CHECK(result.effective.find("switch_cost")->scalar == "none");
  }
  CHECK(SwitchCost().is_free());
}

TEST_CASE("a constant cost is paid for all changes but first starts") {
  const ReadCost result = read("switch_cost: {constant: 30s}");
  CHECK_FALSE(result.diagnostics.has_errors());
  CHECK_FALSE(result.cost.is_free());
  CHECK(result.cost.cost(SwitchKind::start, 1_gpus) == 0_s);
  for (const SwitchKind kind : {SwitchKind::resume, SwitchKind::resize, SwitchKind::migrate})
    CHECK(result.cost.cost(kind, 512_gpus) == 30_s);
  CHECK(to_yaml(result.effective) ==
        to_yaml(read("switch_cost: {constant: 30s, on: [resume, resize, migrate]}").effective));
}

TEST_CASE("a cost by GPUs goes up to each count and the list says what is charged for") {
  const ReadCost result = read("switch_cost: {by_gpus: {1: 7s, 8: 30s, more: 1min}, on: [start, resume]}");
  CHECK_FALSE(result.diagnostics.has_errors());
  CHECK(result.cost.cost(SwitchKind::start, 1_gpus) == 7_s);
  CHECK(result.cost.cost(SwitchKind::resume, 2_gpus) == 30_s);
  CHECK(result.cost.cost(SwitchKind::resume, 8_gpus) == 30_s);
  CHECK(result.cost.cost(SwitchKind::resume, 9_gpus) == 60_s);
  CHECK(result.cost.cost(SwitchKind::migrate, 9_gpus) == 0_s);
}

TEST_CASE("wrong switch costs are refused") {
  for (const char* yaml :
       {"switch_cost: free", "switch_cost: [30s]", "switch_cost: {}", "switch_cost: {constant: 30}",
        "switch_cost: {constant: 1s, by_gpus: {more: 1s}}", "switch_cost: {by_gpus: 3s}",
        "switch_cost: {by_gpus: {1: 7s}}", "switch_cost: {by_gpus: {none: 7s, more: 1s}}",
        "switch_cost: {by_gpus: {0: 7s, more: 1s}}", "switch_cost: {by_gpus: {1: -7s, more: 1s}}",
        "switch_cost: {constant: 1s, on: [restart]}", "switch_cost: {constant: 1s, on: resume}",
        "switch_cost: {constant: 1s, off: [resume]}"}) {
    CAPTURE(yaml);
    CHECK(read(yaml).diagnostics.has_errors());
  }
}
