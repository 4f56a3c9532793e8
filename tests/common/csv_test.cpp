// SPDX-License-Identifier: MIT
#include "common/csv.hpp"
#include "common/file.hpp"
#include "common/sha256.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace vtrain;

namespace {
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const CsvTable& table) {
  Rows rows;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    rows.emplace_back();
    for (std::size_t column = 0; column < table.columns().size(); ++column)
      rows.back().emplace_back(table.field(row, column));
  }
  return rows;
}

CsvTable parse(std::string text) {
  Diagnostics diagnostics;
  CsvTable table = CsvTable::parse(std::move(text), "t.csv", diagnostics);
  diagnostics.throw_if_errors();
  return table;
}

std::string error_of(std::string text) {
  try {
    (void)parse(std::move(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string place(const SourceLocation& where) {
  return std::to_string(where.line) + ":" + std::to_string(where.column);
}
} // namespace

TEST_CASE("a header and rows make a table") {
  const CsvTable table = parse("job_id,gpus\na,8\nb,16\n");
  CHECK(table.columns() == std::vector<std::string>{"job_id", "gpus"});
  CHECK(rows_of(table) == Rows{{"a", "8"}, {"b", "16"}});
  CHECK(table.row_count() == 2);
  CHECK(table.rows_read() == 2);
  CHECK(table.file() == "t.csv");
  CHECK(table.column("gpus") == 1);
  CHECK_FALSE(table.column("GPUs"));
  CHECK_FALSE(table.column("gpu"));
}

TEST_CASE("line ends may be CRLF, and the last may be missing") {
  CHECK(rows_of(parse("a,b\r\n1,2\r\n3,4\r\n")) == Rows{{"1", "2"}, {"3", "4"}});
  CHECK(rows_of(parse("a,b\n1,2\r\n3,4")) == Rows{{"1", "2"}, {"3", "4"}});
  CHECK(rows_of(parse("a,b\r\n1,\"2\"\r\n\"3\",4\r\n")) == Rows{{"1", "2"}, {"3", "4"}});
  CHECK(rows_of(parse("a,b\n1,\"2\"")) == Rows{{"1", "2"}});
  CHECK(rows_of(parse("a,b\n\"1\",2")) == Rows{{"1", "2"}});
  CHECK(rows_of(parse("a,b\n\"1\",2\r")) == Rows{{"1", "2"}});
}

TEST_CASE("a byte-order mark is no part of the first column's name") {
  const CsvTable table = parse("\xEF\xBB\xBF"
                               "a,b\n1,2\n");
  CHECK(table.column("a") == 0);
  CHECK(place(table.header_location(0)) == "1:1");
  CHECK(place(table.header_location(1)) == "1:3");
  CHECK(parse("\xEF\xBB\xBF\"a\",b\n1,2\n").column("a") == 0);
}

TEST_CASE("blank lines are skipped and lines still count from the top") {
  const CsvTable table = parse("\n\na,b\n\n1,2\n   \n\r\n3,4\n\n");
  CHECK(rows_of(table) == Rows{{"1", "2"}, {"3", "4"}});
  CHECK(table.header_location().line == 3);
  CHECK(table.line(0) == 5);
  CHECK(table.line(1) == 8);
}

TEST_CASE("blanks around fields are trimmed, inside quotes they are kept") {
  const CsvTable table = parse(" a , b\t,c\n 1 ,\t2, \" 3 \" \n");
  CHECK(table.columns() == std::vector<std::string>{"a", "b", "c"});
  CHECK(rows_of(table) == Rows{{"1", "2", " 3 "}});
}

TEST_CASE("empty fields are fields") {
  CHECK(rows_of(parse("a,b,c\n,,\n1,,\n,,3\n\"\",,\n")) ==
        Rows{{"", "", ""}, {"1", "", ""}, {"", "", "3"}, {"", "", ""}});
  CHECK(rows_of(parse("a\n\"\"\nx\n")) == Rows{{""}, {"x"}});
}

TEST_CASE("quoted fields may hold commas, line ends and doubled quotes") {
  const CsvTable table =
      parse("a,b\n\"x,y\",\"say \"\"hi\"\" twice \"\"\"\n\"two\nlines\",\"\"\"\"\n1,\"\r\n\"\n");
  CHECK(rows_of(table) == Rows{{"x,y", "say \"hi\" twice \""}, {"two\nlines", "\""}, {"1", "\r\n"}});
  CHECK(table.line(0) == 2);
  CHECK(table.line(1) == 3);
  CHECK(table.line(2) == 5);
}

TEST_CASE("the header may be quoted") {
  const CsvTable table = parse("\"a,1\",\"b\"\"2\"\n1,2\n");
  CHECK(table.columns() == std::vector<std::string>{"a,1", "b\"2"});
}

TEST_CASE("a quote in the middle of a field is a letter") {
  CHECK(rows_of(parse("a,b\n5\" disk,x\"y\"\n")) == Rows{{"5\" disk", "x\"y\""}});
}

TEST_CASE("a field knows its line and column") {
  const CsvTable table = parse("a,b,c\n1, 22,\"x\"\n\"p\nq\",5,6\n7,,9\n");
  CHECK(place(table.location(0, 0)) == "2:1");
  CHECK(place(table.location(0, 1)) == "2:4");
  CHECK(place(table.location(0, 2)) == "2:8"); // behind the opening quote
  CHECK(place(table.location(1, 0)) == "3:2");
  CHECK(place(table.location(1, 1)) == "4:4");
  CHECK(place(table.location(1, 2)) == "4:6");
  CHECK(place(table.location(2, 1)) == "5:3");
  CHECK(table.location(2, 2).file == "t.csv");
}

TEST_CASE("doubled quotes before a field do not shift its place") {
  const CsvTable table = parse("a,b\n\"x\"\"y\"\"z\",7\n");
  CHECK(table.field(0, 0) == "x\"y\"z");
  CHECK(place(table.location(0, 1)) == "2:11");
  const CsvTable lines = parse("a,b\n\"\"\"\n\n\",7\n8,9\n");
  CHECK(lines.location(0, 1).line == 4);
  CHECK(place(lines.location(1, 1)) == "5:3");
}

TEST_CASE("a row of another length is reported and left out, the others are kept") {
  Diagnostics diagnostics;
  const CsvTable table =
      CsvTable::parse("a,b,c,d\n1,2,3,4\n1,2,3\n1,2,3,4,5\n\n7\n5,6,7,8\n", "t.csv", diagnostics);
  CHECK(rows_of(table) == Rows{{"1", "2", "3", "4"}, {"5", "6", "7", "8"}});
  CHECK(table.rows_read() == 5);
  REQUIRE(diagnostics.error_count() == 3);
  CHECK(to_string(diagnostics.kept()[0]) == "t.csv:3:5: error: row has 3 fields, the header has 4");
  CHECK(to_string(diagnostics.kept()[1]) == "t.csv:4:9: error: row has 5 fields, the header has 4");
  CHECK(to_string(diagnostics.kept()[2]) == "t.csv:6:1: error: row has 1 field, the header has 4");
  CHECK(table.line(1) == 7);
}

TEST_CASE("text after a closing quote is an error of its row") {
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::parse("a,b\n\"x\"y,1\n\"z\" ,2\n", "t.csv", diagnostics);
  CHECK(rows_of(table) == Rows{{"z", "2"}});
  REQUIRE(diagnostics.error_count() == 1);
  CHECK(to_string(diagnostics.kept()[0]).starts_with("t.csv:2:4: error: text after the closing quote"));
}

TEST_CASE("columns need names, and different ones") {
  CHECK(error_of("a,,b\n1,2,3\n") == "t.csv:1:3: error: column 2 has no name");
  CHECK(error_of("a,b,\n1,2,3\n") == "t.csv:1:5: error: column 3 has no name");
  CHECK(error_of("a,b, a\n1,2,3\n") == "t.csv:1:6: error: the column 'a' is there twice");
}

TEST_CASE("what is no CSV is refused by name") {
  CHECK(error_of("") == "t.csv: error: the file is empty");
  CHECK(error_of("\xEF\xBB\xBF") == "t.csv: error: the file is empty");
  CHECK(error_of(" \n\r\n\t") == "t.csv: error: the file is empty");
  CHECK(error_of("a,b\n") == "t.csv:1: error: no rows after the header");
  CHECK(error_of("a,b\n\n  \n") == "t.csv:1: error: no rows after the header");
  CHECK(error_of("<!DOCTYPE html>\n<html>")
            .find("this is an HTML page, not a CSV file; was it downloaded from a "
                  "web page?") != std::string::npos);
  CHECK(error_of("\n <html>").find("HTML") != std::string::npos);
  const std::string pointer = error_of("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n");
  CHECK(pointer.find("Git-LFS pointer") != std::string::npos);
  CHECK(pointer.find("git lfs pull") != std::string::npos);
  CHECK(error_of(std::string("a,b\n1,\0\n", 8)).starts_with("t.csv:2: error: this is a binary file"));
  CHECK(error_of(std::string("\xFF\xFE"
                             "a\0,\0",
                             6))
            .find("UTF-16") != std::string::npos);
}

TEST_CASE("an unclosed quote is refused where it opens") {
  CHECK(error_of("a,b\n1,2\n3,\"x\n4,5\n") == "t.csv:3:3: error: a quote opens here and is never closed");
  CHECK(error_of("a,\"b") == "t.csv:1:3: error: a quote opens here and is never closed");
  CHECK(error_of("a,b\n1,\"x\"\"") == "t.csv:2:3: error: a quote opens here and is never closed");
}

TEST_CASE("a table that moves keeps its fields") {
  CsvTable table = parse("a\nx\n"); // short enough for a string's inner buffer
  const CsvTable moved = std::move(table);
  CHECK(moved.field(0, 0) == "x");
  CHECK(place(moved.location(0, 0)) == "2:1");
}

TEST_CASE("files are read, gzip included, and hashed as stored") {
  const vtrain_test::TemporaryFolder folder;
  const std::string text = "a,b\n1,\"2\"\n";
  write_file(folder / "t.csv", text);
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(folder / "t.csv", diagnostics);
  CHECK(rows_of(table) == Rows{{"1", "2"}});
  CHECK(table.digest() == sha256(text));
  CHECK(table.file() == (folder / "t.csv").string());
  // gzip -n of "a,b\n1,2\n"
  const std::string packed("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\x00"
                           "\x7b\x07\x97\x0a\x08\x00\x00\x00",
                           28);
  write_file(folder / "p.csv", packed); // the name says nothing
  const CsvTable unpacked = CsvTable::read(folder / "p.csv", diagnostics);
  CHECK(rows_of(unpacked) == Rows{{"1", "2"}});
  CHECK(unpacked.digest() == sha256(packed));
  CHECK_THROWS_AS((void)CsvTable::read(folder / "none.csv", diagnostics), IoError);
  CHECK_THROWS_AS((void)CsvTable::read(folder.path(), diagnostics), IoError);
}

TEST_CASE("a field is written so that it reads back") {
  for (const std::string field :
       {"plain", "", "a,b", "say \"hi\"", "two\nlines", "\r", " outer ", "\ttab", "in ner"}) {
    std::string line = "a,b\n";
    append_csv_field(line, field);
    line += ",x\n";
    CAPTURE(line);
    CHECK(rows_of(parse(line)) == Rows{{field, "x"}});
  }
  std::string plain;
  append_csv_field(plain, "in ner");
  CHECK(plain == "in ner");
}
