// SPDX-License-Identifier: MIT
// An engine without SimGrid: the oracle of the SimGrid engine, and the way to test policies in one process.
#pragma once

#include "cluster/sim_engine.hpp"

namespace vtrain::test {

class PlainEngine final : public SimEngine {
public:
  void run(Seconds first, const Step& step) override {
    for (std::optional<Seconds> date = first; date;)
      date = step(*date);
  }
};

} // namespace vtrain::test
