// SPDX-License-Identifier: MIT
#include "vtrain_core/cost/collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace vtrain {
namespace {

/// NCCL's all-reduce within a node, fitted to the table that vTrain's authors measured on 8 A100 with
/// NVSwitch (github.com/VIA-Research/vTrain, trace/a100): latency, and bus bandwidth as a share of NVLink's
/// in one direction.
struct RingLaw {
  double ranks;
  double latency_s;
  double share;
};
constexpr std::array<RingLaw, 3> kRings{{{2, 39e-6, 0.62}, {4, 44e-6, 0.70}, {8, 76e-6, 0.75}}};

RingLaw ring_of(double ranks) {
  if (ranks <= kRings.front().ranks)
    return kRings.front();
  for (std::size_t i = 1; i < kRings.size(); ++i)
    if (ranks <= kRings[i].ranks) { // linear in log2 of the ranks
      const RingLaw& a = kRings[i - 1];
      const RingLaw& b = kRings[i];
      const double x = std::log2(ranks / a.ranks) / std::log2(b.ranks / a.ranks);
      return {ranks, a.latency_s + x * (b.latency_s - a.latency_s), a.share + x * (b.share - a.share)};
    }
  return kRings.back();
}

/// How often a collective sends its tensor round the ring: an all-reduce is a reduce-scatter and an
/// all-gather.
double rounds(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2.0 : 1.0;
}
} // namespace

Collectives::Collectives(const NodeType& node, const ConstantValues& constants,
                         const MeasuredCollectives* measured)
    : measured_(measured),
      gpu_(node.gpu),
      nvlink_(node.gpu.nvlink * constants[Constant::nvlink_efficiency]),
      network_(node.network * constants[Constant::network_efficiency]),
      measured_scale_(1.0 / constants[Constant::nvlink_efficiency]),
      message_latency_(constants[Constant::message_latency]),
      hop_latency_(constants[Constant::hop_latency]),
      gpus_per_node_(node.gpus.value()) {}

Seconds Collectives::within_node(CollectiveKind kind, Bytes bytes, double ranks) const {
  if (measured_ != nullptr && kind != CollectiveKind::all_to_all && kind != CollectiveKind::point_to_point)
    if (const AllReduceTable* table = measured_->all_reduce(gpu_, static_cast<std::int32_t>(ranks)))
      return table->time(bytes) * (rounds(kind) / 2.0 * measured_scale_);
  const RingLaw ring = ring_of(ranks);
  return Seconds(ring.latency_s) * (rounds(kind) / 2.0) +
         bytes * (rounds(kind) * (ranks - 1) / ranks) / (nvlink_ * ring.share);
}

Seconds Collectives::ring(CollectiveKind kind, Bytes bytes, const GroupLayout& group) const {
  const double ranks = group.ranks;
  if (group.ranks <= 1 || bytes == Bytes{})
    return {};
  if (group.within_node())
    return within_node(kind, bytes, ranks);
  const RingLaw inner = ring_of(group.ranks_in_node);
  const double nodes = ranks / group.ranks_in_node;
  const Seconds latency =
      Seconds(inner.latency_s) * (rounds(kind) / 2.0) + hop_latency_ * (rounds(kind) * (nodes - 1));
  if (kind == CollectiveKind::all_to_all)
    return latency + pairwise(bytes, group, nvlink_ * inner.share);
  const BytesPerSecond bandwidth = std::min(nvlink_ * inner.share, network_ * group.network_share);
  return latency + bytes * (rounds(kind) * (ranks - 1) / ranks) / bandwidth;
}

/// Each rank sends a piece of its own to each other one, so the node's network carries the pieces of all its
/// ranks, where a ring sends one stream for the group.
Seconds Collectives::pairwise(Bytes bytes, const GroupLayout& group, BytesPerSecond nvlink) const {
  const double inside = group.ranks_in_node;
  const Seconds near = bytes * ((inside - 1) / group.ranks) / nvlink;
  const Seconds far = bytes * ((group.ranks - inside) / group.ranks) / (network_ / gpus_per_node_);
  return std::max(near, far);
}

Seconds Collectives::hierarchical(CollectiveKind kind, Bytes bytes, const GroupLayout& group) const {
  if (kind == CollectiveKind::all_to_all || group.within_node() || group.ranks_in_node <= 1 ||
      bytes == Bytes{})
    return ring(kind, bytes, group);
  const double nodes = static_cast<double>(group.ranks) / group.ranks_in_node;
  return within_node(kind, bytes, group.ranks_in_node) +
         bytes * (rounds(kind) * (1.0 - 1.0 / nodes)) / (network_ * group.network_share);
}

Seconds Collectives::message(Bytes bytes, bool crosses_nodes) const {
  const BytesPerSecond bandwidth = crosses_nodes ? network_ / gpus_per_node_ : nvlink_ * kRings.front().share;
  return message_latency_ + bytes / bandwidth;
}

} // namespace vtrain
