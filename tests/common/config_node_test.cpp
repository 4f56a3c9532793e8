// SPDX-License-Identifier: MIT
#include "common/config.hpp"
#include "common/file.hpp"
#include "config_trees.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace vtrain;
using vtrain_test::errors_of;
using vtrain_test::tree;
using Kind = ConfigNode::Kind;

namespace {
std::string parse_errors(std::string_view text) {
  Diagnostics diagnostics;
  (void)parse_yaml(text, "t.yaml", diagnostics);
  return errors_of(diagnostics);
}

std::string place(const SourceLocation& where) {
  return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

/// The YAML of a tree after overrides, or the errors.
std::string overridden(std::string_view text, std::initializer_list<const char*> assignments) {
  ConfigNode root = tree(text);
  Diagnostics diagnostics;
  for (const char* assignment : assignments)
    apply_override(root, assignment, diagnostics);
  return diagnostics.has_errors() ? errors_of(diagnostics) : to_yaml(root);
}
} // namespace

TEST_CASE("YAML becomes a tree in file order") {
  const ConfigNode root = tree("b: 1\na: [x, \"2\", 'three']\nc: {d: null, e: }\n");
  REQUIRE(root.kind == Kind::map);
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].key == "b");
  CHECK(root.entries[1].key == "a");
  CHECK(root.find("b")->scalar == "1");
  const ConfigNode& list = *root.find("a");
  REQUIRE(list.kind == Kind::sequence);
  CHECK(list.items[0].scalar == "x");
  CHECK_FALSE(list.items[0].quoted);
  CHECK(list.items[1].quoted);
  CHECK(list.items[2].quoted);
  CHECK(root.find("c")->find("d")->kind == Kind::null);
  CHECK(root.find("c")->find("e")->kind == Kind::null);
  CHECK(root.find("none") == nullptr);
  CHECK(list.find("x") == nullptr);
}

TEST_CASE("keys and values know their place, counted from 1") {
  const ConfigNode root = tree("a: 1\nb:\n  c: [x,\n      y]\n  d:\n");
  CHECK(place(root.where) == "t.yaml:1:1");
  CHECK(place(root.entries[1].where) == "t.yaml:2:1");
  const ConfigNode& b = *root.find("b");
  CHECK(place(b.where) == "t.yaml:3:3");
  CHECK(place(b.entries[0].where) == "t.yaml:3:3");
  CHECK(place(b.find("c")->where) == "t.yaml:3:6");
  CHECK(place(b.find("c")->items[1].where) == "t.yaml:4:7");
  CHECK(b.find("d")->where.line > 0);
}

TEST_CASE("null is written null, ~ or nothing, and in quotes they are texts") {
  for (const std::string text : {"a: null", "a: ~", "a:", "a: Null", "a: NULL", "a: # nothing"}) {
    CAPTURE(text);
    CHECK(tree(text).find("a")->kind == Kind::null);
  }
  for (const std::string text : {"a: \"null\"", "a: '~'", "a: ''", "a: nil", "a: !!str null"}) {
    CAPTURE(text);
    CHECK(tree(text).find("a")->kind == Kind::scalar);
  }
}

TEST_CASE("texts over several lines and anchors are understood") {
  CHECK(tree("a: |\n  one\n  two\n").find("a")->scalar == "one\ntwo\n");
  CHECK(tree("a: |\n  5\n").find("a")->quoted);
  CHECK(tree("a: one\n  two\n").find("a")->scalar == "one two");
  const ConfigNode root = tree("a: &x {n: 1}\nb: *x\n");
  CHECK(root.find("b")->find("n")->scalar == "1");
}

TEST_CASE("a key given twice is an error that names both places") {
  CHECK(parse_errors("name: a\nrun: 1\nname: b\n") ==
        "t.yaml:3:1: error: key 'name' is given twice; first given at line 1, column 1");
  CHECK(parse_errors("a: {b: 1, 'b': 2}").find("key 'b' is given twice") != std::string::npos);
}

TEST_CASE("what makes YAML ambiguous is refused") {
  CHECK(parse_errors("a: &x {n: 1}\nb:\n  <<: *x\n").find("t.yaml:3:3: error: merge keys") == 0);
  CHECK(parse_errors("? [a, b]\n: 1\n").find("a key must be a text") != std::string::npos);
  CHECK(parse_errors("~: 1\n").find("a key must be a text") != std::string::npos);
  CHECK(parse_errors("a: 1\n---\nb: 2\n").find("more than one YAML document") != std::string::npos);
  CHECK(parse_errors("a: !!int 1\n").find("t.yaml:1:4: error: the YAML tag") == 0);
  CHECK(parse_errors("a: !mine {b: 1}\n").find("the YAML tag '!mine'") != std::string::npos);
  CHECK(parse_errors(std::string(300, 'k') + ": 1\n").find("longer than 256") != std::string::npos);
}

TEST_CASE("syntax errors have a place") {
  for (const std::string text : {"a: [1, 2\n", "a: {b: 1\n", "a: b: c\n", "a: \"x\n", "a: 1\n b: 2\n",
                                 "a: *none\n", "]\n", "a: 1\n]\n", "a: %\n", "- a\nb: 1\n", "a: @x\n"}) {
    CAPTURE(text);
    CHECK(parse_errors(text).find("t.yaml:") == 0);
  }
  CHECK(parse_errors("a: [1, 2\n").find("not valid YAML: ") != std::string::npos);
}

TEST_CASE("a quote that is never closed is an error where it opens") {
  const std::string message = "a quote opens here and is never closed";
  CHECK(parse_errors("a: 'b'\nc: \"x\nd: 1\n") == "t.yaml:2:4: error: " + message);
  CHECK(parse_errors("a: 'x\n\n") == "t.yaml:1:4: error: " + message);
  CHECK_FALSE(parse_errors("a: [b, 'x\n\n").empty());
  CHECK(parse_errors("a: \"x\\\n") == "t.yaml:1:4: error: " + message);
  CHECK_FALSE(parse_errors("a: 'x").empty());
  CHECK(parse_errors("a: 'x'\nb: |\n  it's\n\n").empty());
  CHECK(parse_errors("a: it's\n").empty());
}

TEST_CASE("what is not UTF-8 text is refused where it stops being it") {
  const std::string message = "this is not UTF-8 text";
  CHECK(parse_errors("a: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n").empty());
  CHECK(parse_errors("\xEF\xBB\xBF"
                     "a: 1\n")
            .empty());
  CHECK(parse_errors("a: 1\nb: \xC3\xA4\xFF\n") == "t.yaml:2:5: error: " + message);
  for (const std::string text :
       {"\xC3", "\x80", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8", "\xE2\x82",
        "\x04", "\x1f", "\xF0\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(parse_errors("a: " + text) == "t.yaml:1:4: error: " + message);
  }
  CHECK(parse_errors(std::string("a\0:\0", 4)).find(message) != std::string::npos);
}

TEST_CASE("a tab as indentation is named") {
  CHECK(parse_errors("a:\n\tb: 1\n").find("YAML indents with blanks, not with tabs") != std::string::npos);
}

TEST_CASE("hostile depth and size are errors, not crashes") {
  const std::string deep(100, '[');
  CHECK(parse_errors("a: " + deep + std::string(100, ']')).find("nested more than 64 deep") !=
        std::string::npos);
  CHECK_FALSE(parse_errors(std::string(100000, '[')).empty());
  CHECK_FALSE(parse_errors(std::string(100000, '{')).empty());
  std::string dashes;
  for (int i = 0; i < 50000; ++i)
    dashes += "- ";
  CHECK_FALSE(parse_errors(dashes).empty());
  std::string laughs = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = std::to_string(i - 1);
    const std::string name = std::to_string(i);
    laughs += "a" + name + ": &a" + name + " [*a" + last + ", *a" + last + "]\n";
  }
  CHECK(parse_errors(laughs).find("more than 200000 values") != std::string::npos);
  CHECK_FALSE(parse_errors("&a [*a, *a]").empty());
}

TEST_CASE("no text at all is null, but a file must hold something") {
  CHECK(tree("").kind == Kind::null);
  CHECK(tree("# only a comment\n").kind == Kind::null);
  const vtrain_test::TemporaryFolder folder;
  for (const std::string text : {"", "\n\n", "# only a comment\n", "---\n"}) {
    write_file(folder / "e.yaml", text);
    Diagnostics diagnostics;
    (void)read_yaml(folder / "e.yaml", diagnostics);
    CAPTURE(text);
    CHECK(errors_of(diagnostics) == (folder / "e.yaml").string() + ": error: the file is empty");
  }
  write_file(folder / "e.yaml", "a: 1\n");
  Diagnostics diagnostics;
  CHECK(read_yaml(folder / "e.yaml", diagnostics).find("a")->where.file == (folder / "e.yaml").string());
  CHECK_THROWS_AS((void)read_yaml(folder / "none.yaml", diagnostics), IoError);
}

TEST_CASE("set appends a key or replaces its value") {
  ConfigNode map = ConfigNode::map();
  map.set("a", ConfigNode::text("1"));
  map.set("b", ConfigNode::sequence());
  map.set("a", ConfigNode::text("2"));
  CHECK(to_yaml(map) == "a: 2\nb: []\n");
  ConfigNode null;
  CHECK(null.set("x", ConfigNode::map()).kind == Kind::map);
  CHECK(to_yaml(null) == "x: {}\n");
}

TEST_CASE("an override sets a value at a path of keys") {
  CHECK(overridden("run: {seed: 1}\n", {"run.seed=7"}) == "run:\n  seed: 7\n");
  CHECK(overridden("run: {seed: 1}\n", {"run.until=7d", "name=x"}) ==
        "run:\n  seed: 1\n  until: 7d\nname: x\n");
  CHECK(overridden("", {"workload.trace.window=[0d, 7d]"}) == "workload:\n  trace:\n    window: [0d, 7d]\n");
  CHECK(overridden("switch_cost: none\n", {"switch_cost.constant=30s"}) == "switch_cost:\n  constant: 30s\n");
  CHECK(overridden("a: 1\n", {"a={constant: 30s}"}) == "a:\n  constant: 30s\n");
  CHECK(overridden("a: 1\n", {"a="}) == "a: null\n");
  CHECK(overridden("a: 1\n", {"a=x=y"}) == "a: x=y\n");
  CHECK(overridden("a: 1\n", {"a=1", "a=2"}) == "a: 2\n");
  CHECK(overridden("a: [1]\n", {"a=[2, 3]"}) == "a: [2, 3]\n");
}

TEST_CASE("the place of an override is the option") {
  ConfigNode root = tree("a: 1\n");
  Diagnostics diagnostics;
  apply_override(root, "b.c={d: 5}", diagnostics);
  const ConfigNode& b = *root.find("b");
  CHECK(place(b.where) == "--set b.c:0:0");
  CHECK(place(b.entries[0].where) == "--set b.c:0:0");
  CHECK(place(b.find("c")->find("d")->where) == "--set b.c:0:0");
}

TEST_CASE("an override that means nothing is an error") {
  CHECK(overridden("a: 1\n", {"a"}).find("--set: error: 'a' is no assignment; write KEY=VALUE") == 0);
  CHECK(overridden("a: 1\n", {"=1"}).find("is no path of keys") != std::string::npos);
  CHECK(overridden("a: 1\n", {"a..b=1"}).find("'a..b' is no path of keys") != std::string::npos);
  CHECK(overridden("a: 1\n", {"a.<<=1"}).find("is no path of keys") != std::string::npos);
  CHECK(overridden("a: 1\n", {"a=[1"}).find("--set a: error: not valid YAML") == 0);
  CHECK(overridden("a: 1\n", {"a={x: 1, x: 2}"}).find("--set a: error: key 'x' is given twice") == 0);
  CHECK(overridden("a: [1]\n", {"a.0=1"}).find("'a' is a list") != std::string::npos);
  std::string deep = "a";
  for (int i = 0; i < 100; ++i)
    deep += ".a";
  CHECK(overridden("a: 1\n", {(deep + "=1").c_str()}).find("nested more than 64 deep") != std::string::npos);
}
