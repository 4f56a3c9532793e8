// SPDX-License-Identifier: MIT
#include "app/exit_code.hpp"
#include "common/assert.hpp"
#include "common/diagnostics.hpp"
#include "schedulers/scheduler.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

namespace {
template <class Error> ExitCode code_of(Error error) {
  return describe(std::make_exception_ptr(std::move(error))).code;
}
} // namespace

TEST_CASE("every kind of failure has its exit code") {
  CHECK(code_of(InputError({"x.yaml", 1, 2}, "wrong")) == ExitCode::bad_input);
  CHECK(code_of(SimulationError("stalled")) == ExitCode::simulation);
  CHECK(code_of(PolicyError("a GPU given twice")) == ExitCode::simulation);
  CHECK(code_of(IoError("disk full")) == ExitCode::io);
  CHECK(code_of(CapabilityError("no GPU")) == ExitCode::capability);
  CHECK(code_of(Interrupted("interrupted")) == ExitCode::interrupted);
  CHECK(code_of(InternalError("impossible")) == ExitCode::internal);
  CHECK(code_of(std::bad_alloc()) == ExitCode::internal);
  CHECK(code_of(42) == ExitCode::internal);
}

TEST_CASE("the message of an input error is its diagnostics and nothing else") {
  const Failure failure =
      describe(std::make_exception_ptr(InputError({"x.yaml", 3, 7}, "no such key", "try 'run'")));
  CHECK(failure.message == "x.yaml:3:7: error: no such key; try 'run'");
}
