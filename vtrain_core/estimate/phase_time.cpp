// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/phase_time.hpp"

#include <algorithm>
#include <cstddef>

namespace vtrain {
namespace {

const GroupLayout& layout_of(const RankLayout& layout, Group group) {
  return group == Group::context ? layout.context() : layout.expert();
}

Seconds& exposed(PassTime& time, Group group) {
  switch (group) {
  case Group::tensor: return time.tensor;
  case Group::context: return time.context;
  case Group::expert: break;
  }
  return time.expert;
}

/// Plays one pass. Dates count from the start of the pass.
class PassPlayer {
public:
  PassPlayer(const OperatorGraph& graph, const std::vector<Price>& prices, const Pricing& pricing)
      : graph_(graph),
        prices_(prices),
        pricing_(pricing),
        end_(prices.size()),
        extra_(prices.size()),
        extra_group_(prices.size(), Group::tensor) {
    const auto& operators = graph.operators();
    for (std::size_t i = 0; i < operators.size(); ++i)
      if (const auto beside = operators[i].beside;
          beside >= 0 && !left_out(operators[static_cast<std::size_t>(beside)])) {
        const auto b = static_cast<std::size_t>(beside);
        const Seconds shared =
            pricing.constants[Constant::overlap_interference] * std::min(prices[i].time, prices[b].time);
        extra_[i] += shared;
        extra_[b] += shared;
        extra_group_[b] = operators[i].group;
      }
  }

  /// `pieces`, if given, receives the chain of the critical path.
  PassTime play(Phase phase, std::vector<pipeline::Piece>* pieces = nullptr) {
    PassTime out;
    const auto piece = [&](Seconds time, bool communication) {
      if (pieces != nullptr && time > Seconds{})
        pieces->push_back({time.base(), communication});
    };
    Seconds compute_free;
    std::array<Seconds, 3> group_free{};
    Seconds last_communication;
    Group last_group = Group::tensor;
    const auto& operators = graph_.operators();
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const Operator& op = operators[i];
      if (op.phase != phase)
        continue;
      const Cause ready = ready_at(i, phase);
      if (op.kind == OperatorKind::collective) {
        Seconds& free = group_free[static_cast<std::size_t>(op.group)];
        free = std::max(free, ready.date) + prices_[i].time + extra_[i];
        end_[i] = free;
        if (free > last_communication) {
          last_communication = free;
          last_group = op.group;
        }
        continue;
      }
      if (op.weight_gradient)
        out.weight_gradient += prices_[i].time;
      if (left_out(op)) {
        end_[i] = ready.date;
        continue;
      }
      if (ready.date > compute_free) {
        piece(ready.date - compute_free, true);
        exposed(out, ready.group) += ready.date - compute_free;
        compute_free = ready.date;
      }
      out.compute += prices_[i].time;
      piece(prices_[i].time, false);
      piece(extra_[i], true);
      exposed(out, extra_group_[i]) += extra_[i];
      compute_free += prices_[i].time + extra_[i];
      end_[i] = compute_free;
    }
    if (last_communication > compute_free) {
      piece(last_communication - compute_free, true);
      exposed(out, last_group) += last_communication - compute_free;
    }
    return out;
  }

private:
  /// When an operator's inputs are there, and the group of the collective that was last.
  struct Cause {
    Seconds date;
    Group group = Group::tensor;
  };
  [[nodiscard]] Cause ready_at(std::size_t index, Phase phase) const {
    Cause cause;
    for (const int before : graph_.predecessors(index)) {
      const auto b = static_cast<std::size_t>(before);
      const Operator& op = graph_.operators()[b];
      if (op.phase == phase && end_[b] > cause.date)
        cause = {end_[b], op.group};
    }
    return cause;
  }
  [[nodiscard]] bool left_out(const Operator& op) const {
    return op.weight_gradient && pricing_.defer_weight_gradient;
  }

  const OperatorGraph& graph_;
  const std::vector<Price>& prices_;
  const Pricing& pricing_;
  std::vector<Seconds> end_;
  std::vector<Seconds> extra_;     ///< what running beside another stream costs
  std::vector<Group> extra_group_; ///< and which group's communication it is
};

/// The host launches a layer's kernels; where they are shorter than that, the GPU waits.
void raise_to_launch_floor(PassTime& time, Seconds floor) {
  if (floor > time.compute)
    time.launch = floor - time.compute;
}
} // namespace

PassTime& PassTime::operator+=(const PassTime& other) {
  compute += other.compute;
  launch += other.launch;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  weight_gradient += other.weight_gradient;
  return *this;
}

PassTime operator*(const PassTime& time, double times) {
  return {time.compute * times, time.launch * times, time.tensor * times,
          time.context * times, time.expert * times, time.weight_gradient * times};
}

std::vector<Price> price_operators(const OperatorGraph& graph, const Pricing& pricing) {
  const auto& operators = graph.operators();
  std::vector<Price> prices(operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Operator& op = operators[i];
    if (op.same_as >= 0) {
      prices[i] = prices[static_cast<std::size_t>(op.same_as)];
    } else if (op.kind == OperatorKind::collective) {
      prices[i].time =
          op.group == Group::tensor
              ? pricing.collectives.hierarchical(op.collective, op.bytes, pricing.layout.tensor())
              : pricing.collectives.ring(op.collective, op.bytes, layout_of(pricing.layout, op.group));
    } else {
      prices[i] = pricing.compute.price(op);
    }
  }
  return prices;
}

std::vector<pipeline::Piece> pass_pieces(const OperatorGraph& graph, const std::vector<Price>& prices,
                                         const Pricing& pricing, Phase phase) {
  std::vector<pipeline::Piece> out;
  PassPlayer(graph, prices, pricing).play(phase, &out);
  return out;
}

BlockTime time_block(const OperatorGraph& graph, const std::vector<Price>& prices, const Pricing& pricing,
                     bool layer) {
  PassPlayer player(graph, prices, pricing);
  BlockTime out{player.play(Phase::forward), player.play(Phase::recompute), player.play(Phase::backward)};
  if (layer) {
    const Seconds floor{pricing.constants[Constant::layer_launch]};
    raise_to_launch_floor(out.forward, floor);
    if (out.recompute.compute > Seconds{})
      raise_to_launch_floor(out.recompute,
                            std::min(floor, floor * (out.recompute.compute / out.forward.compute)));
    raise_to_launch_floor(out.backward, floor * pricing.constants[Constant::backward_launch_ratio]);
  }
  return out;
}

} // namespace vtrain
