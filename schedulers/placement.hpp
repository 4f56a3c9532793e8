// SPDX-License-Identifier: MIT
// Where a gang's GPUs are: a choice of its own, apart from the policy's order.
#pragma once

#include "schedulers/node_pool.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Chooses GPUs for a gang. What it chooses depends on the pool and the number of GPUs alone, and whether it
/// finds any is monotone: it does when more GPUs are free, or fewer are asked for on the same nodes.
class Placement {
public:
  virtual ~Placement() = default;
  /// Fills `out` with `gpus` >= 1 free GPUs of `pool` and returns true; returns false, `out` unspecified,
  /// when it will not place so many now.
  [[nodiscard]] virtual bool find(const NodePool& pool, GpuCount gpus, Allocation& out) const = 0;
};

/// A placement in the catalogue. `make` is null for `count`, which knows no nodes: a gang fits when enough
/// GPUs are free.
struct PlacementEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Placement> (*make)();
};

/// count, first_fit, best_fit, consolidate.
[[nodiscard]] const std::vector<PlacementEntry>& placements();
/// The entry with that name, or null.
[[nodiscard]] const PlacementEntry* find_placement(std::string_view name);

} // namespace vtrain
