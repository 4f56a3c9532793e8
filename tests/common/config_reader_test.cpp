// SPDX-License-Identifier: MIT
#include "common/config.hpp"
#include "config_trees.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace vtrain;
using vtrain_test::errors_of;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// A YAML text, its reader and what comes out.
struct Reading {
  explicit Reading(std::string_view yaml)
      : root(parse_yaml(yaml, "t.yaml", diagnostics)), reader(root, "", diagnostics, effective) {}
  Diagnostics diagnostics;
  ConfigNode root;
  ConfigNode effective;
  ConfigReader reader;
  [[nodiscard]] std::string errors() const { return errors_of(diagnostics); }
  [[nodiscard]] std::string yaml() const { return to_yaml(effective); }
};

/// Reads `yaml` and returns the errors.
template <class Read> std::string errors_when(std::string_view yaml, Read read) {
  Reading reading(yaml);
  read(reading.reader);
  return reading.errors();
}
} // namespace

TEST_CASE("values and defaults are returned and recorded in the order of reading") {
  Reading r("until: 90s\nname: itp\nseed: 7\nfraction: 0.50\nstrict: false\n");
  CHECK(r.reader.text("name", "none") == "itp");
  CHECK(r.reader.text("policy", "fifo") == "fifo");
  CHECK(r.reader.integer("seed", 1, 0, 100) == 7);
  CHECK(r.reader.number("fraction", 1.0, 0.0, 1.0) == 0.5);
  CHECK(r.reader.number("load", 0.25, 0.0, 1.0) == 0.25);
  CHECK(r.reader.boolean("strict", true) == false);
  CHECK(r.reader.boolean("echo", true) == true);
  CHECK(r.reader.seconds("until", Seconds(1.0)) == Seconds(90.0));
  CHECK(r.reader.seconds("warmup", kHour) == kHour);
  r.reader.finish();
  CHECK(r.errors() == "");
  CHECK(r.yaml() == "name: itp\npolicy: fifo\nseed: 7\nfraction: 0.5\nload: 0.25\nstrict: false\necho: true\n"
                    "until: 90s\nwarmup: 1h\n");
}

TEST_CASE("null counts as absent") {
  Reading r("name:\nseed: ~\n");
  CHECK_FALSE(r.reader.has("name"));
  CHECK(r.reader.text("name", "x") == "x");
  CHECK_FALSE(r.reader.optional_text("seed"));
  CHECK(r.reader.raw("seed") == nullptr);
  r.reader.finish();
  CHECK(r.errors() == "");
}

TEST_CASE("an unknown key is an error with a suggestion") {
  Reading r("runn: 1\n");
  (void)r.reader.text("name", "");
  (void)r.reader.integer("run", 1, 0, 9);
  r.reader.finish();
  CHECK(r.errors() == "t.yaml:1:1: error: unknown key 'runn'; did you mean 'run'? (available: run, name)");
}

TEST_CASE("an unknown key of a section names the section") {
  Reading r("scheduler:\n  options:\n    varant: paper\n  polcy: srtf\n");
  ConfigReader scheduler = r.reader.section("scheduler");
  (void)scheduler.text("policy", "fifo");
  ConfigReader options = scheduler.section("options");
  (void)options.text("variant", "");
  options.finish();
  scheduler.finish();
  r.reader.finish();
  CHECK(r.errors() ==
        "t.yaml:3:5: error: unknown key 'varant' in 'scheduler.options'; did you mean 'variant'? (available: "
        "variant)\nt.yaml:4:3: error: unknown key 'polcy' in 'scheduler'; did you mean 'policy'? (available: "
        "policy, "
        "options)");
}

TEST_CASE("a duration without a unit is refused with what to write") {
  Reading r("switch_cost: {constant: 30, late: 1.5, low: -5s, odd: soon}\n");
  ConfigReader cost = r.reader.section("switch_cost");
  CHECK(cost.seconds("constant", kMinute) == kMinute);
  CHECK_FALSE(cost.optional_seconds("late"));
  CHECK(cost.seconds("low", kMinute) == kMinute);
  CHECK(cost.seconds("odd", kMinute) == kMinute);
  CHECK(r.errors() ==
        "t.yaml:1:25: error: 'switch_cost.constant' needs a unit; write 30s\n"
        "t.yaml:1:35: error: 'switch_cost.late' needs a unit; write 1.5s\n"
        "t.yaml:1:45: error: 'switch_cost.low' must not be negative\n"
        "t.yaml:1:55: error: 'switch_cost.odd' must be a duration, not 'soon'; write it as in 30s");
}

TEST_CASE("zero is a duration without a unit") {
  Reading r("warmup: 0\n");
  CHECK(r.reader.seconds("warmup", kHour) == Seconds(0.0));
  CHECK(r.yaml() == "warmup: 0s\n");
}

TEST_CASE("quantities carry units and are recorded in the user's") {
  Reading r("memory: 80GiB\nlink: 400Gbps\npeak: 312 TFLOPS\npower: 400W\nprice: $2.50/h\n");
  CHECK(r.reader.required_bytes("memory") == Bytes(80.0 * 1073741824.0));
  CHECK(r.reader.required_bytes_per_second("link") == BytesPerSecond(50e9));
  CHECK(r.reader.required_flops_per_second("peak") == FlopsPerSecond(312e12));
  CHECK(r.reader.required_watts("power") == Watts(400.0));
  CHECK(r.reader.required_usd_per_second("price") == UsdPerSecond(2.5 / 3600.0));
  CHECK(r.errors() == "");
  CHECK(r.yaml() == "memory: 80GiB\nlink: 400Gbps\npeak: 312 TFLOPS\npower: 400W\nprice: $2.50/h\n");
}

TEST_CASE("a required quantity that is absent, bare or odd is an error") {
  Reading r("link: 400\npower: much\npeak: [1]\n");
  CHECK(r.reader.required_bytes("memory") == Bytes(0.0));
  (void)r.reader.required_bytes_per_second("link");
  (void)r.reader.required_watts("power");
  (void)r.reader.required_flops_per_second("peak");
  CHECK(r.errors() == "t.yaml:1:1: error: missing key 'memory'\n"
                      "t.yaml:1:7: error: 'link' needs a unit; write 400GB/s\n"
                      "t.yaml:2:8: error: 'power' must be a power, not 'much'; write it as in 30W\n"
                      "t.yaml:3:7: error: 'peak' must be a single value, not a list");
}

TEST_CASE("a required text must be there") {
  CHECK(errors_when("name: x\n", [](ConfigReader& r) { (void)r.required_text("cluster"); }) ==
        "t.yaml:1:1: error: missing key 'cluster'");
  CHECK(errors_when("a:\n  b: x\n", [](ConfigReader& r) { (void)r.section("a").required_text("file"); }) ==
        "t.yaml:2:3: error: missing key 'file' in 'a'");
  CHECK(errors_when("a: ''\n", [](ConfigReader& r) { (void)r.required_text("a"); }) ==
        "t.yaml:1:4: error: 'a' must not be empty");
  CHECK(errors_when("a: {b: 1}\n", [](ConfigReader& r) { (void)r.required_text("a"); }) ==
        "t.yaml:1:4: error: 'a' must be a single value, not a map");
  CHECK(errors_when("a: x\n", [](ConfigReader& r) { CHECK(r.required_text("a") == "x"); }) == "");
}

TEST_CASE("a choice is one of a list") {
  Reading r("contention: demnd\nfrom: trace\n");
  const std::vector<std::string> modes{"none", "demand", "residual"};
  CHECK(r.reader.choice("contention", modes, "none") == "none");
  CHECK(r.reader.choice("from", {"trace", "profile"}, "profile") == "trace");
  CHECK(r.reader.choice("other", modes, "demand") == "demand");
  CHECK(r.errors() ==
        "t.yaml:1:13: error: 'contention' cannot be 'demnd'; did you mean 'demand'? (available: demand, "
        "none, residual)");
  CHECK(r.yaml() == "contention: none\nfrom: trace\nother: demand\n");
}

TEST_CASE("only true and false are booleans") {
  const auto read = [](ConfigReader& r) { CHECK(r.boolean("a", true)); };
  CHECK(errors_when("a: yes\n", read) ==
        "t.yaml:1:4: error: 'a' must be true or false, not 'yes'; write true");
  CHECK(errors_when("a: off\n", read) ==
        "t.yaml:1:4: error: 'a' must be true or false, not 'off'; write false");
  CHECK(errors_when("a: True\n", read).ends_with("write true"));
  CHECK(errors_when("a: 1\n", read) == "t.yaml:1:4: error: 'a' must be true or false, not '1'");
  CHECK(errors_when("a: 'true'\n", read).ends_with("leave out the quotes"));
  CHECK(errors_when("a: true\n", read) == "");
}

TEST_CASE("a whole number stays within its bounds") {
  const auto read = [](ConfigReader& r) { CHECK(r.integer("a", 5, 1, 64) == 5); };
  CHECK(errors_when("a: 0\n", read) == "t.yaml:1:4: error: 'a' must be between 1 and 64, not 0");
  CHECK(errors_when("a: 65\n", read) == "t.yaml:1:4: error: 'a' must be between 1 and 64, not 65");
  CHECK(errors_when("a: 1.5\n", read) == "t.yaml:1:4: error: 'a' must be a whole number, not '1.5'");
  CHECK(errors_when("a: x\n", read) == "t.yaml:1:4: error: 'a' must be a whole number, not 'x'");
  CHECK(errors_when("a: '5'\n", read).ends_with("leave out the quotes"));
  CHECK(errors_when("a: 5.0\n", read) == "");
  CHECK(errors_when("a: 0\n", [](ConfigReader& r) { (void)r.integer("a", 5, 1, kMost); }) ==
        "t.yaml:1:4: error: 'a' must be at least 1, not 0");
}

TEST_CASE("a number stays within its bounds") {
  const auto read = [](ConfigReader& r) { CHECK(r.number("a", 0.5, 0.0, 1.0) == 0.5); };
  CHECK(errors_when("a: 1.5\n", read) == "t.yaml:1:4: error: 'a' must be between 0 and 1, not 1.5");
  CHECK(errors_when("a: x\n", read) == "t.yaml:1:4: error: 'a' must be a number, not 'x'");
  CHECK(errors_when("a: .inf\n", read) == "t.yaml:1:4: error: 'a' must be a number, not '.inf'");
  CHECK(errors_when("a: -1\n", [](ConfigReader& r) { (void)r.number("a", 0.5, 0.0, kInfinity); }) ==
        "t.yaml:1:4: error: 'a' must be at least 0, not -1");
  CHECK(errors_when("a: 9\n", [](ConfigReader& r) { (void)r.number("a", 0.5, -kInfinity, 1.0); }) ==
        "t.yaml:1:4: error: 'a' must be at most 1, not 9");
}

TEST_CASE("a list is read item by item") {
  Reading r("limits: [3250s, 7200s]\nodd: 5\n");
  const std::vector<ConfigNode>& items = r.reader.sequence("limits");
  REQUIRE(items.size() == 2);
  CHECK(items[1].scalar == "7200s");
  CHECK(r.reader.sequence("none").empty());
  CHECK(r.reader.sequence("odd").empty());
  CHECK(r.errors() == "t.yaml:2:6: error: 'odd' must be a list; write it as in [a, b]");
  CHECK(r.yaml() == "limits: [3250s, 7200s]\n");
}

TEST_CASE("raw values count as read and are recorded as they are") {
  Reading r("cluster: {nodes: 3, node: {gpus: 4}}\n");
  REQUIRE(r.reader.raw("cluster") != nullptr);
  CHECK(r.reader.raw("none") == nullptr);
  r.reader.finish();
  CHECK(r.errors() == "");
  CHECK(r.yaml() == "cluster:\n  nodes: 3\n  node:\n    gpus: 4\n");
}

TEST_CASE("an absent section reads as an empty one and its defaults are recorded") {
  Reading r("name: x\n");
  ConfigReader run = r.reader.section("run");
  (void)run.integer("seed", 1, 0, kMost);
  (void)run.required_text("until");
  run.finish();
  (void)r.reader.section("failures");
  CHECK(r.yaml() == "run:\n  seed: 1\nfailures: {}\n");
  CHECK(r.errors() == "t.yaml:1:1: error: missing key 'until' in 'run'");
}

TEST_CASE("a section that is no map is an error") {
  Reading r("cluster: a100\nrun: [1]\n");
  CHECK(r.reader.section("cluster").integer("nodes", 3, 1, 9) == 3);
  (void)r.reader.section("run");
  CHECK(r.errors() == "t.yaml:1:10: error: 'cluster' must be a map; write KEY: VALUE lines\n"
                      "t.yaml:2:6: error: 'run' must be a map; write KEY: VALUE lines");
}

TEST_CASE("a root that is no map is an error") {
  Reading r("- a\n- b\n");
  CHECK(r.reader.text("name", "x") == "x");
  CHECK(r.errors().find("t.yaml:1:1: error: this must be a map") == 0);
}

TEST_CASE("readers of sections may be used side by side, after their parent recorded more") {
  Reading r("a: {x: 1}\n");
  ConfigReader a = r.reader.section("a");
  ConfigReader inner = r.reader.section("b").section("c"); // the reader between them is gone
  for (char key = 'd'; key < 'z'; ++key)
    (void)r.reader.text(std::string(1, key), "v");
  (void)a.integer("x", 0, 0, 9);
  (void)inner.text("y", "deep");
  CHECK(r.effective.find("a")->find("x")->scalar == "1");
  CHECK(r.effective.find("b")->find("c")->find("y")->scalar == "deep");
  const ConfigReader moved = std::move(a);
  CHECK(moved.where().line == 1);
}

TEST_CASE("errors of the caller stand at the key, or at the map when it is absent") {
  Reading r("run:\n  seed: 5\n");
  ConfigReader run = r.reader.section("run");
  run.error("seed", "too small", "take 6");
  run.error("until", "must be given");
  CHECK(r.errors() == "t.yaml:2:9: error: too small; take 6\nt.yaml:2:3: error: must be given");
  CHECK(run.where().line == 2);
  CHECK(run.where("seed").column == 9);
  CHECK(&run.diagnostics() == &r.diagnostics);
}

TEST_CASE("what is recorded can be overwritten") {
  Reading r("policy: SRTF\n");
  (void)r.reader.text("policy", "");
  r.reader.record("policy", ConfigNode::text("srtf"));
  CHECK(r.yaml() == "policy: srtf\n");
}

TEST_CASE("the effective configuration reads back as itself") {
  const char* const yaml = "name: '7'\nuntil: 5400s\nflag: false\ncount: 8.0\nodd: \"a: b\"\n";
  const auto read = [](ConfigReader& r) {
    (void)r.text("name", "");
    (void)r.seconds("until", kHour);
    (void)r.boolean("flag", true);
    (void)r.integer("count", 0, 0, 9);
    (void)r.text("odd", "");
    (void)r.text("word", "true");
    (void)r.text("number", "12");
    r.finish();
  };
  Reading first(yaml);
  read(first.reader);
  CHECK(first.yaml() ==
        "name: '7'\nuntil: 90min\nflag: false\ncount: 8\nodd: 'a: b'\nword: 'true'\nnumber: '12'\n");
  Reading second(first.yaml());
  read(second.reader);
  CHECK(second.errors() == "");
  CHECK(second.yaml() == first.yaml());
}
