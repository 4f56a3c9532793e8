// SPDX-License-Identifier: MIT
#include "vtrain_core/search/compute_optimal.hpp"

#include "vtrain_core/graph/flops.hpp"
#include "vtrain_core/search/training_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace vtrain {
namespace {

/// Batches of about 4 million tokens at 2,048 a sample that divide in many ways; one of them suits most
/// numbers of GPUs.
constexpr std::array<std::int64_t, 6> kBatches{1536, 1680, 1792, 1920, 2048, 2304};

class CandidateSearch {
public:
  CandidateSearch(const SearchPricing& pricing, const ComputeBudget& budget)
      : pricing_(pricing), budget_(budget), peak_(dense_peak(pricing.node.gpu, budget.base.precision)) {}

  [[nodiscard]] Flops compute() const { return peak_ * budget_.time * static_cast<double>(budget_.gpus); }

  [[nodiscard]] ComputeOptimalCandidate search(const ModelShape& model) const {
    ComputeOptimalCandidate out;
    out.model = model;
    out.parameters = total_parameters(model);
    out.tokens = kChinchillaTokens * out.parameters;
    std::vector<std::int64_t> batches(kBatches.begin(), kBatches.end());
    if (budget_.global_batch > 0)
      batches = {budget_.global_batch};
    for (const std::int64_t batch : batches)
      try_batch(batch, out);
    if (out.plan)
      out.utilization = kFlopsPerParameterToken * out.parameters * out.tokens /
                        (peak_ * out.wall * static_cast<double>(budget_.gpus)).base();
    return out;
  }

private:
  void try_batch(std::int64_t batch, ComputeOptimalCandidate& out) const {
    const NodeType& node = pricing_.node;
    PlanSpace space;
    space.base = budget_.base;
    space.base.global_batch = batch;
    space.most_gpus = budget_.gpus;
    space.virtual_stages = {1, 2, 3, 4, 5, 6};
    space.micro_batch = {1, 2, 4, 8};
    space.zero = {0, 1};
    for (std::int32_t tensor = 1; tensor <= node.gpus.value(); tensor *= 2)
      space.tensor.push_back(tensor);
    SearchRequest request;
    request.top = 1;
    request.frontier = false;
    request.threads = budget_.threads;
    const SearchResult result = search_plans(out.model, space, pricing_, request);
    if (result.best.empty())
      return;
    const FoundPlan& found = result.best.front();
    const Seconds wall = found.time * static_cast<double>(iterations_for(out.tokens, batch, out.model));
    if (!out.plan || wall < out.wall) {
      out.plan = found;
      out.wall = wall;
    }
  }

  const SearchPricing& pricing_;
  const ComputeBudget& budget_;
  FlopsPerSecond peak_;
};

/// N with 120 N^2 = C u(N) between two candidates.
double between(const ComputeOptimalCandidate& in_time, const ComputeOptimalCandidate& late, Flops compute) {
  double low = std::log(in_time.parameters);
  double high = std::log(late.parameters);
  const double span = high - low;
  const double from = low;
  constexpr int kBisections = 60;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    const double share = (middle - from) / span;
    const double utilization = in_time.utilization + share * (late.utilization - in_time.utilization);
    const double needed = kFlopsPerParameterToken * kChinchillaTokens * std::exp(2 * middle);
    (needed <= compute.base() * utilization ? low : high) = middle;
  }
  return std::exp(low);
}

/// Whether they differ in no more than vocabulary and name, as the sizes of GPT-3, OPT and Megatron-LM do.
bool is_like(const ModelShape& a, const ModelShape& b) {
  return a.layers == b.layers && a.hidden == b.hidden && a.heads == b.heads && a.ffn_hidden == b.ffn_hidden;
}

} // namespace

bool is_gpt_shape(const ModelShape& model) {
  return !model.moe && model.learned_positions && model.biases && !model.gated_ffn && !model.parallel_block &&
         model.kv_heads == model.heads && model.sequence_length == 2048;
}

ComputeOptimal compute_optimal(std::span<const ModelShape> models, const SearchPricing& pricing,
                               const ComputeBudget& budget) {
  const CandidateSearch search(pricing, budget);
  ComputeOptimal out{};
  out.compute = search.compute();
  out.naive_parameters = std::sqrt(out.compute.base() / (kFlopsPerParameterToken * kChinchillaTokens));
  std::vector<const ModelShape*> shapes;
  for (const ModelShape& model : models)
    if (is_gpt_shape(model) &&
        std::ranges::none_of(shapes, [&](const ModelShape* known) { return is_like(*known, model); }))
      shapes.push_back(&model);
  std::ranges::stable_sort(shapes, std::greater{}, [](const ModelShape* m) { return total_parameters(*m); });
  const auto naive = std::ranges::find_if(
      shapes, [&](const ModelShape* m) { return total_parameters(*m) <= out.naive_parameters; });
  if (naive == shapes.end())
    return out;
  out.naive = **naive;
  for (auto shape = naive == shapes.begin() ? naive : naive - 1; shape != shapes.end(); ++shape) {
    out.candidates.push_back(search.search(**shape));
    if (out.best)
      break; // the one more
    if (out.candidates.back().is_in_time(budget.time))
      out.best = out.candidates.size() - 1;
  }
  if (out.best && *out.best > 0 && out.candidates[*out.best - 1].plan)
    out.parameters = between(out.candidates[*out.best], out.candidates[*out.best - 1], out.compute);
  return out;
}

} // namespace vtrain
