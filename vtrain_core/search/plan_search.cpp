// SPDX-License-Identifier: MIT
#include "vtrain_core/search/plan_search.hpp"

#include "common/parallel.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/estimate/lower_bound.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/plan/rank_layout.hpp"
#include "vtrain_core/search/found_plans.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace vtrain {
namespace {

constexpr std::size_t kPiece = 256; // plans that a thread takes at a time
constexpr std::size_t kRound = 256; // plans that are evaluated before what was found is looked at again
constexpr std::size_t kProgressEvery = 1U << 15U;

/// One search, step by step.
class Search {
public:
  Search(const ModelShape& model, const PlanSpace& space, const SearchPricing& pricing,
         const SearchRequest& request)
      : model_(model),
        space_(space),
        pricing_(pricing),
        request_(request),
        threads_(std::max<std::size_t>(request.threads, 1)),
        plans_(threads_, space.base),
        found_(request) {
    for (std::size_t thread = 0; thread < threads_; ++thread)
      estimators_.emplace_back(pricing.node, pricing.constants, pricing.habits, pricing.cost,
                               pricing.measured);
  }

  SearchResult run() {
    report("listing plans", 0.0);
    choices_ = enumerate_plans(model_, pricing_.node, space_);
    keep_those_that_fit();
    price_blocks();
    bound_times();
    evaluate();
    return result();
  }

private:
  void report(std::string_view step, double share) const {
    if (request_.progress)
      request_.progress(step, share);
  }

  ParallelPlan& plan_of(std::size_t index, std::size_t thread) {
    apply(choices_[index], space_, plans_[thread]);
    return plans_[thread];
  }

  void keep_those_that_fit() {
    searched_ = choices_.size();
    memory_.resize(searched_);
    for (std::size_t done = 0; done < searched_; done += kProgressEvery) {
      report("checking memory", static_cast<double>(done) / static_cast<double>(searched_));
      const std::size_t count = std::min(kProgressEvery, searched_ - done);
      parallel_pieces(count, kPiece, threads_, [&](std::size_t begin, std::size_t end, std::size_t thread) {
        for (std::size_t i = done + begin; i < done + end; ++i)
          memory_[i] = peak_memory(model_, plan_of(i, thread));
      });
    }
    const Bytes capacity = usable_memory(pricing_.node.gpu);
    for (std::size_t i = 0; i < searched_; ++i)
      if (memory_[i] <= capacity)
        order_.push_back({i, choices_[i].gpus(), {}});
  }

  void price_blocks() {
    std::map<BlockKey, std::size_t> known;
    std::vector<std::size_t> examples; // a plan for each set of block times
    block_.resize(choices_.size());
    for (const TimedChoice& choice : order_) {
      const ParallelPlan& plan = plan_of(choice.index, 0);
      const BlockKey key(plan, RankLayout(plan, pricing_.node.gpus.value()));
      const auto [at, is_new] = known.emplace(key, known.size());
      if (is_new)
        examples.push_back(choice.index);
      block_[choice.index] = at->second;
    }
    blocks_.resize(examples.size());
    parallel_pieces(examples.size(), 1, threads_,
                    [&](std::size_t begin, std::size_t end, std::size_t thread) {
                      for (std::size_t i = begin; i < end; ++i)
                        blocks_[i] = estimators_[thread].block_times(model_, plan_of(examples[i], thread));
                    });
  }

  /// Sorts the plans that fit by what they can reach at best.
  void bound_times() {
    std::map<std::pair<std::int32_t, std::int32_t>, LayerSpread> spreads;
    for (TimedChoice& choice : order_) {
      const ParallelPlan& plan = plan_of(choice.index, 0);
      const auto [at, is_new] = spreads.try_emplace({plan.pipeline, plan.virtual_stages});
      if (is_new)
        at->second = layer_spread(model_, plan);
      choice.time =
          time_lower_bound(model_, plan, blocks_[block_[choice.index]], at->second, pricing_.constants);
    }
    std::ranges::stable_sort(order_, {}, [&](const TimedChoice& choice) {
      return std::pair(choice.value(request_.objective), choice.gpus);
    });
  }

  /// Evaluates in rounds, so that what is left out does not depend on the number of threads.
  void evaluate() {
    std::vector<TimedChoice> round;
    for (std::size_t next = 0; next < order_.size();) {
      report("estimating", static_cast<double>(next) / static_cast<double>(order_.size()));
      round.clear();
      for (; next < order_.size() && round.size() < kRound; ++next)
        if (!request_.prune || found_.could_take(order_[next]))
          round.push_back(order_[next]);
      parallel_pieces(round.size(), 8, threads_, [&](std::size_t begin, std::size_t end, std::size_t thread) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t index = round[i].index;
          round[i].time = estimators_[thread].time(model_, plan_of(index, thread), blocks_[block_[index]]);
        }
      });
      for (const TimedChoice& choice : round)
        found_.add(choice);
      evaluated_ += round.size();
    }
  }

  SearchResult result() {
    SearchResult out;
    out.searched = searched_;
    out.feasible = order_.size();
    out.evaluated = evaluated_;
    out.best = plans_of(found_.best());
    out.frontier = plans_of(found_.frontier());
    out.by_gpu_count = plans_of(found_.by_gpu_count());
    return out;
  }

  std::vector<FoundPlan> plans_of(const std::vector<TimedChoice>& choices) {
    std::vector<FoundPlan> out;
    for (const TimedChoice& choice : choices)
      out.push_back({plan_of(choice.index, 0), choice.time, memory_[choice.index]});
    return out;
  }

  const ModelShape& model_;
  const PlanSpace& space_;
  const SearchPricing& pricing_;
  const SearchRequest& request_;
  std::size_t threads_;
  std::vector<ParallelPlan> plans_;   ///< one for each thread to work with
  std::vector<Estimator> estimators_; ///< likewise
  std::vector<PlanChoice> choices_;   ///< the space
  std::vector<Bytes> memory_;         ///< by choice
  std::vector<std::size_t> block_;    ///< by choice: index of its block times
  std::vector<BlockTimes> blocks_;
  std::vector<TimedChoice> order_; ///< those that fit, with their bounds
  std::size_t searched_ = 0;
  std::size_t evaluated_ = 0;
  FoundPlans found_;
};

} // namespace

SearchResult search_plans(const ModelShape& model, const PlanSpace& space, const SearchPricing& pricing,
                          const SearchRequest& request) {
  return Search(model, space, pricing, request).run();
}

std::optional<ParallelPlan> smallest_fitting_plan(const ModelShape& model, const NodeType& node,
                                                  const PlanSpace& space, std::int64_t at_least) {
  std::vector<PlanChoice> choices = enumerate_plans(model, node, space);
  std::ranges::stable_sort(choices, {}, &PlanChoice::gpus);
  ParallelPlan plan = space.base;
  std::optional<ParallelPlan> best;
  Bytes least = usable_memory(node.gpu);
  for (const PlanChoice& choice : choices) {
    if (choice.gpus() < at_least)
      continue;
    if (best && choice.gpus() > best->gpus())
      break;
    apply(choice, space, plan);
    const Bytes memory = peak_memory(model, plan);
    if (memory > least || (best && memory == least))
      continue;
    best = plan;
    least = memory;
  }
  return best;
}

} // namespace vtrain
