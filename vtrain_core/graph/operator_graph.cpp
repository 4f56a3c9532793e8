// SPDX-License-Identifier: MIT
#include "vtrain_core/graph/operator_graph.hpp"

#include "common/assert.hpp"

#include <map>
#include <tuple>

namespace vtrain {

std::string_view to_string(OperatorKind value) {
  switch (value) {
  case OperatorKind::gemm: return "gemm";
  case OperatorKind::attention: return "attention";
  case OperatorKind::memory_bound: return "memory_bound";
  case OperatorKind::collective: return "collective";
  }
  return "";
}

std::string_view to_string(Phase value) {
  switch (value) {
  case Phase::forward: return "forward";
  case Phase::recompute: return "recompute";
  case Phase::backward: return "backward";
  }
  return "";
}

std::string_view to_string(CollectiveKind value) {
  switch (value) {
  case CollectiveKind::all_reduce: return "all_reduce";
  case CollectiveKind::all_gather: return "all_gather";
  case CollectiveKind::reduce_scatter: return "reduce_scatter";
  case CollectiveKind::all_to_all: return "all_to_all";
  case CollectiveKind::point_to_point: return "point_to_point";
  }
  return "";
}

std::string_view to_string(Group value) {
  switch (value) {
  case Group::tensor: return "tensor";
  case Group::context: return "context";
  case Group::expert: return "expert";
  }
  return "";
}

void set_gemm_work(Operator& gemm) {
  const double input = gemm.low_precision ? 1.0 : 2.0;
  gemm.flops = Flops(2 * gemm.m * gemm.n * gemm.k * gemm.batch);
  gemm.bytes = Bytes(gemm.batch * (input * (gemm.m + gemm.n) * gemm.k + 2 * gemm.m * gemm.n));
}

int OperatorGraph::add(const Operator& op, std::initializer_list<int> after) {
  const int index = static_cast<int>(operators_.size());
  for (const int before : after) {
    VTRAIN_ASSERT(before >= 0 && before < index, "an operator waits for one that was not added before");
    edges_.push_back(before);
  }
  first_edge_.push_back(edges_.size());
  operators_.push_back(op);
  return index;
}

std::vector<NecessaryOperator> necessary_operators(std::span<const Block> blocks) {
  using Key = std::tuple<OperatorKind, CollectiveKind, Group, bool, bool, double, double, double, double,
                         double, double>;
  std::map<Key, std::size_t> seen;
  std::vector<NecessaryOperator> out;
  for (const Block& block : blocks)
    for (const Operator& op : block.graph.operators()) {
      const bool communicates = op.kind == OperatorKind::collective;
      const Key key{op.kind,
                    communicates ? op.collective : CollectiveKind::all_reduce,
                    communicates ? op.group : Group::tensor,
                    op.attention_core,
                    op.low_precision,
                    op.m,
                    op.n,
                    op.k,
                    op.batch,
                    op.flops.base(),
                    op.bytes.base()};
      const auto [at, fresh] = seen.emplace(key, out.size());
      if (fresh)
        out.push_back({op, 0.0});
      out[at->second].uses += block.count;
    }
  return out;
}

} // namespace vtrain
