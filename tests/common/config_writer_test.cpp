// SPDX-License-Identifier: MIT
#include "common/config.hpp"
#include "common/random.hpp"
#include "config_trees.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace vtrain;
using vtrain_test::same_tree;
using vtrain_test::tree;

namespace {
std::string rewritten(std::string_view text) {
  return to_yaml(tree(text));
}

std::string random_text(RandomStream& random) {
  static constexpr std::string_view kLetters = "ab1 -:#'\"\\,[]{}&*!|>%@`~?<.\n\t\r=\x01\x04\x7f";
  std::string text;
  for (std::uint64_t length = random.below(7); length > 0; --length)
    text += random.below(20) == 0 ? std::string("\xC3\xA4")
                                  : std::string(1, kLetters[random.below(kLetters.size())]);
  return text;
}

ConfigNode random_tree(RandomStream& random, int depth) {
  const std::uint64_t kind = random.below(depth == 0 ? 2 : 4);
  ConfigNode node;
  if (kind == 1) {
    node = ConfigNode::text(random_text(random));
    node.quoted = random.below(2) == 0;
  } else if (kind == 2) {
    node = ConfigNode::sequence();
    for (std::uint64_t n = random.below(4); n > 0; --n)
      node.items.push_back(random_tree(random, depth - 1));
  } else if (kind == 3) {
    node = ConfigNode::map();
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      const std::string key = random_text(random);
      if (key != "<<")
        node.set(key, random_tree(random, depth - 1));
    }
  }
  return node;
}
} // namespace

TEST_CASE("maps are written one key a line, lists of values on one line") {
  CHECK(rewritten("{a: 1, b: {c: [1, two, '3'], d: {}}, e: [], f: }") ==
        "a: 1\nb:\n  c: [1, two, '3']\n  d: {}\ne: []\nf: null\n");
}

TEST_CASE("a list of maps is written one item a line") {
  CHECK(rewritten("a: [{b: 1, c: {d: 2}}, {b: 2}, x]\n") == "a:\n  - {b: 1, c: {d: 2}}\n  - {b: 2}\n  - x\n");
  CHECK(rewritten("a: [[1, 2], [3]]\n") == "a: [[1, 2], [3]]\n");
}

TEST_CASE("trees that are no map are written too") {
  CHECK(rewritten("") == "null\n");
  CHECK(rewritten("{}") == "{}\n");
  CHECK(rewritten("[]") == "[]\n");
  CHECK(rewritten("7d") == "7d\n");
  CHECK(rewritten("[{a: 1}]") == "[{a: 1}]\n");
}

TEST_CASE("everyday texts need no quotes") {
  for (const std::string text :
       {"dgx-a100-80g", "../shared/jobs.csv", "/tmp/x.csv", "7d", "1.5h", "-5", "1e-05", "a b", "$2.50/h",
        "8GB/s", "http://x/y", "jct_p99", "(x)", "C:\\x", "true", "job#3"}) {
    CHECK(to_yaml(ConfigNode::text(text)) == std::string(text) + "\n");
    CHECK(same_tree(ConfigNode::text(text), tree(text)));
  }
}

TEST_CASE("texts that YAML would read as something else are quoted") {
  for (const std::string text :
       {"",   "null", "Null", "NULL", "~",    " x", "x ",   "a: b", "a:",  ":a",  "a #b",  "#b",  "- a",
        "-",  "[a",   "{a",   "a]",   "a,b",  "*a", "&a",   "!a",   "|",   ">",   "%a",    "@a",  "`a",
        "'a", "\"a",  "?",    "? a",  "a\nb", "\n", "\t",   "a\tb", "a\r", "---", "--- a", "...", "yes",
        "No", "ON",   "off",  "y",    "=",    "<<", "\x01", "\x7f", "a'b", "a\"b"}) {
    const ConfigNode node = ConfigNode::text(text);
    const std::string yaml = to_yaml(node);
    CAPTURE(yaml);
    CHECK((yaml.front() == '\'' || yaml.front() == '"'));
    CHECK(same_tree(node, tree(yaml)));
    CHECK(same_tree(node, tree("[" + yaml + "]").items.at(0)));
  }
}

TEST_CASE("what was in quotes stays in quotes") {
  CHECK(rewritten("a: \"5\"\nb: 'true'\nc: 5\n") == "a: '5'\nb: 'true'\nc: 5\n");
}

TEST_CASE("keys are quoted as texts are") {
  ConfigNode map = ConfigNode::map();
  for (const char* key : {"plain", "null", "a: b", "", "two\nlines", "- x", "true"})
    map.set(key, ConfigNode::text("1"));
  CHECK(same_tree(map, tree(to_yaml(map))));
}

TEST_CASE("any tree reads back as itself") {
  RandomStream random(9, 9);
  for (int i = 0; i < 4000; ++i) {
    const ConfigNode node = random_tree(random, 4);
    const std::string yaml = to_yaml(node);
    CAPTURE(yaml);
    const ConfigNode again = tree(yaml);
    REQUIRE(same_tree(node, again));
    REQUIRE(to_yaml(again) == yaml);
  }
}
