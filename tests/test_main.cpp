// SPDX-License-Identifier: MIT
// The main function of every suite. A case that cannot run here says MESSAGE("skipped: why"); when CTest runs
// it alone and it does not fail, the exit code is 77, which CTest shows as skipped. (A regular expression on
// the output would hide that a case failed as well.)
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

namespace {

constexpr int kSkipped = 77;
int cases_run = 0;
bool said_skipped = false;

/// Listens for skips; what is printed is left to doctest's own reporter.
struct SkipListener : doctest::IReporter {
  explicit SkipListener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData&) override { ++cases_run; }
  void log_message(const doctest::MessageData& message) override {
    if (std::string_view(message.m_string.c_str()).starts_with("skipped:"))
      said_skipped = true;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("skips", 1, SkipListener);

} // namespace

int main(int argc, char** argv) {
  const int result = doctest::Context(argc, argv).run();
  return result == 0 && cases_run == 1 && said_skipped ? kSkipped : result;
}
