// SPDX-License-Identifier: MIT
// The clock that drives a simulation. SimGrid is behind this interface and nowhere else.
#pragma once

#include "common/units.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace vtrain {

struct Cluster;

/// Advances a clock from date to date. One engine per process, used once (SimGrid's clock cannot be reset).
class SimEngine {
public:
  /// Handles everything that happens at `now` and returns the next date, later than `now`, or none when
  /// nothing is left.
  using Step = std::function<std::optional<Seconds>(Seconds now)>;

  virtual ~SimEngine() = default;
  /// Calls `step` at `first`, then at each date that it returned. What `step` throws comes out of `run`.
  virtual void run(Seconds first, const Step& step) = 0;
};

/// The SimGrid engine with one host for each node of `cluster`. Its library is loaded now, not when the
/// program starts. Throws CapabilityError when it cannot be loaded.
[[nodiscard]] std::unique_ptr<SimEngine> make_simgrid_engine(const Cluster& cluster);

/// Version of the SimGrid library in use, such as "3.32"; throws as make_simgrid_engine does.
[[nodiscard]] std::string simgrid_version();

} // namespace vtrain
