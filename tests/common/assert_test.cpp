// SPDX-License-Identifier: MIT
#include "common/assert.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("a broken invariant throws with the place, the sentence and the condition") {
  const int gpus = 9;
  std::string message;
  try {
    VTRAIN_ASSERT(gpus <= 8, "a node has eight GPUs");
  } catch (const vtrain::InternalError& error) {
    message = error.what();
  }
  CHECK(message.find("assert_test.cpp:") != std::string::npos);
  CHECK(message.find("a node has eight GPUs") != std::string::npos);
  CHECK(message.find("gpus <= 8") != std::string::npos);
}

TEST_CASE("an invariant that holds costs nothing and evaluates its condition once") {
  int evaluations = 0;
  VTRAIN_ASSERT(++evaluations == 1, "evaluated once");
  CHECK(evaluations == 1);
}
