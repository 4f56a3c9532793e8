// SPDX-License-Identifier: MIT
#include "common/diagnostics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace vtrain;

TEST_CASE("a diagnostic reads as compilers print it") {
  CHECK(to_string({{"a.yaml", 12, 5}, Severity::error, "unknown key 'runn'", "did you mean 'run'?"}) ==
        "a.yaml:12:5: error: unknown key 'runn'; did you mean 'run'?");
}

TEST_CASE("parts of a place that are not known are left out") {
  CHECK(to_string({{"a.yaml", 12, 0}, Severity::warning, "odd", ""}) == "a.yaml:12: warning: odd");
  CHECK(to_string({{"a.yaml", 0, 0}, Severity::note, "odd", ""}) == "a.yaml: note: odd");
  CHECK(to_string({{"a.yaml", 0, 7}, Severity::error, "odd", ""}) == "a.yaml: error: odd");
  CHECK(to_string({{"", 0, 0}, Severity::error, "odd", ""}) == "error: odd");
  CHECK(to_string({{"", 3, 4}, Severity::error, "odd", ""}) == "3:4: error: odd");
}

TEST_CASE("all errors are thrown as one exception, in the order reported") {
  Diagnostics diagnostics;
  diagnostics.error({"f", 2, 1}, "second line");
  diagnostics.warning({"f", 3, 1}, "only a warning");
  diagnostics.error({"f", 1, 1}, "first line", "fix it");
  CHECK(diagnostics.error_count() == 2);
  CHECK(diagnostics.warning_count() == 1);
  CHECK(diagnostics.kept().size() == 3);
  CHECK_THROWS_WITH_AS(diagnostics.throw_if_errors(),
                       "f:2:1: error: second line\nf:1:1: error: first line; fix it", InputError);
}

TEST_CASE("warnings alone do not throw") {
  Diagnostics diagnostics;
  diagnostics.warning({"f", 1, 1}, "only a warning");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK_NOTHROW(diagnostics.throw_if_errors());
}

TEST_CASE("the first twenty errors are kept and the others counted") {
  Diagnostics diagnostics;
  for (std::size_t line = 1; line <= 32; ++line)
    diagnostics.error({"f", line, 0}, "wrong");
  diagnostics.warning({"f", 33, 0}, "a warning is kept all the same");
  CHECK(diagnostics.error_count() == 32);
  CHECK(diagnostics.kept().size() == Diagnostics::kMaxKept + 1);
  try {
    diagnostics.throw_if_errors();
    FAIL("must throw");
  } catch (const InputError& error) {
    const std::string text = error.what();
    CHECK(std::count(text.begin(), text.end(), '\n') == 20);
    CHECK(text.ends_with("\nf:20: error: wrong\n... and 12 more errors"));
    CHECK(error.diagnostics().size() == 20);
  }
}

TEST_CASE("one error more than kept is counted in the singular") {
  CHECK(std::string(InputError({Diagnostic{{"f", 1, 0}, Severity::error, "wrong", ""}}, 1).what()) ==
        "f:1: error: wrong\n... and 1 more error");
}

TEST_CASE("a single error makes an exception of its own") {
  const InputError error({"f", 1, 2}, "wrong", "right");
  CHECK(std::string(error.what()) == "f:1:2: error: wrong; right");
  REQUIRE(error.diagnostics().size() == 1);
  CHECK(error.diagnostics()[0].where.column == 2);
}
