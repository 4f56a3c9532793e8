// SPDX-License-Identifier: MIT
// What communication within a group of ranks costs.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"
#include "vtrain_core/graph/operator.hpp"
#include "vtrain_core/plan/rank_layout.hpp"

namespace vtrain {

/// Prices collectives on nodes of a kind. Within a node: latency + traffic / bus bandwidth, a law fitted to
/// NCCL's all-reduce (or a measured table in its place); the other collectives send half of an all-reduce's
/// traffic.
class Collectives {
public:
  /// `measured`, if given, outlives this and replaces the law within a node where it has the GPU.
  Collectives(const NodeType& node, const ConstantValues& constants,
              const MeasuredCollectives* measured = nullptr);

  /// A ring through all ranks, as slow as its slowest link: NVLink, or the group's share of its node's
  /// network when all groups of the kind communicate at once. all_to_all has no ring: all ranks send at once
  /// to all others, over NVLink and over each GPU's share of the network. `bytes` as CollectiveKind says; 0 s
  /// for one rank, and for an empty tensor.
  [[nodiscard]] Seconds ring(CollectiveKind kind, Bytes bytes, const GroupLayout& group) const;
  /// Inside the nodes first, then between them, as NCCL's trees do for a tensor-parallel group that is larger
  /// than a node. The same as `ring` within a node.
  [[nodiscard]] Seconds hierarchical(CollectiveKind kind, Bytes bytes, const GroupLayout& group) const;
  /// One pipeline message of `bytes` per rank, all ranks of the node sending at once if it leaves the node.
  [[nodiscard]] Seconds message(Bytes bytes, bool crosses_nodes) const;

private:
  [[nodiscard]] Seconds within_node(CollectiveKind kind, Bytes bytes, double ranks) const;
  [[nodiscard]] Seconds pairwise(Bytes bytes, const GroupLayout& group, BytesPerSecond nvlink) const;

  const MeasuredCollectives* measured_;
  Gpu gpu_;                ///< its names are those in the measured table
  BytesPerSecond nvlink_;  ///< in one direction, scaled by its efficiency
  BytesPerSecond network_; ///< of the whole node, attainable
  double measured_scale_;  ///< from measured times to those in training
  Seconds message_latency_;
  Seconds hop_latency_;
  double gpus_per_node_;
};

} // namespace vtrain
