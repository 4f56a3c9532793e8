// SPDX-License-Identifier: MIT
#include "app/text_table.hpp"
#include "common/assert.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace vtrain;
using Style = ResultTable::Column::Style;

namespace {

ResultTable sample() {
  ResultTable table({{"policy", "", Style::text},
                     {"jct_mean_s", "mean JCT", Style::seconds},
                     {"jobs", "", Style::number},
                     {"met", "met?", Style::text}});
  table.add({"fifo", 86400.0, std::int64_t{12}, true});
  table.add({"srtf, fast", 90.5, std::int64_t{1000}, false});
  table.add({"none", {}, {}, {}});
  return table;
}

} // namespace

TEST_CASE("a table of text has headings, a rule, and numbers to the right") {
  CHECK(sample().to_text() == "policy      mean JCT  jobs  met?\n"
                              "----------  --------  ----  ----\n"
                              "fifo            24 h    12  yes\n"
                              "srtf, fast  1.51 min  1000  no\n"
                              "none               -     -  -\n");
}

TEST_CASE("a table of CSV quotes where it must and leaves unknown cells empty") {
  CHECK(sample().to_csv() == "policy,jct_mean_s,jobs,met\n"
                             "fifo,86400,12,true\n"
                             "\"srtf, fast\",90.5,1000,false\n"
                             "none,,,\n");
}

TEST_CASE("a table of JSON is an array of objects with null for unknown cells") {
  ResultTable table({{"name", "", Style::text}, {"value", "", Style::number}});
  table.add({"a \"b\"", 0.1});
  table.add({"c", 3.0});
  table.add({"d", {}});
  table.add({"e", std::numeric_limits<double>::quiet_NaN()});
  CHECK(table.to_json() == R"([
  {
    "name": "a \"b\"",
    "value": 0.1
  },
  {
    "name": "c",
    "value": 3
  },
  {
    "name": "d",
    "value": null
  },
  {
    "name": "e",
    "value": null
  }
]
)");
}

TEST_CASE("a table without rows is an empty array, a header, or headings") {
  const ResultTable table({{"a", "", Style::text}});
  CHECK(table.render(OutputFormat::json) == "[]\n");
  CHECK(table.render(OutputFormat::csv) == "a\n");
  CHECK(table.render(OutputFormat::table) == "a\n-\n");
}

TEST_CASE("columns of a table are aligned by what a character takes on the screen") {
  ResultTable table({{"name", "", Style::text}, {"n", "", Style::number}});
  table.add({"Größe", std::int64_t{1}});
  table.add({"数据", std::int64_t{2}});
  table.add({"plain-name", std::int64_t{3}});
  CHECK(table.to_text() == "name        n\n"
                           "----------  -\n"
                           "Größe       1\n"
                           "数据        2\n"
                           "plain-name  3\n");
}

TEST_CASE("names that would move the cursor of a terminal are made harmless in text, and kept in CSV") {
  ResultTable table({{"name", "", Style::text}});
  table.add({"a\x1b[31m\nb"});
  CHECK(table.to_text() == "name\n--------\na [31m b\n");
  CHECK(table.to_csv() == "name\n\"a\x1b[31m\nb\"\n");
}

TEST_CASE("a byte that is no UTF-8 does not cost the JSON") {
  ResultTable table({{"name", "", Style::text}});
  table.add({"a\xff"});
  CHECK(table.to_json().find("a\uFFFD") != std::string::npos);
}

TEST_CASE("a row with the wrong number of cells is a mistake of the program") {
  ResultTable table({{"a", "", Style::text}});
  CHECK_THROWS_AS(table.add({"x", "y"}), InternalError);
}

TEST_CASE("styles of a table show percent, dollars and durations") {
  ResultTable table({{"share", "", Style::percent},
                     {"cost", "", Style::usd},
                     {"time", "", Style::seconds},
                     {"x", "", Style::number}});
  table.add({0.5, 1234.5, std::int64_t{120}, 1234567.891});
  CHECK(table.shown(0, 0) == "50.00 %");
  CHECK(table.shown(0, 1) == "1,234 USD");
  CHECK(table.shown(0, 2) == "2 min");
  CHECK(table.shown(0, 3) == "1234568");
}
