// SPDX-License-Identifier: MIT
// The possible plan nearest to an impossible one: settings other than degrees are put right first, then the
// degrees with the smallest sum of |log(new / old)| are searched, then the batch is rounded.
#include "common/assert.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace vtrain {
namespace {

/// Costs that differ by less, a thousandth of a degree, are equal: a plan is not worth moving tensor
/// parallelism for the sake of a rounded data-parallel degree.
constexpr double kEqualCosts = 1e-3;

/// Real shapes and plans take hundreds of visits; a search through absurd ones ends here with its best so
/// far.
constexpr std::int64_t kMostVisits = 1'000'000;

double change(std::int64_t from, std::int64_t to) {
  return std::abs(std::log(static_cast<double>(to) / static_cast<double>(from)));
}

/// A degree that a plan may have, and what it costs to move there.
struct Candidate {
  std::int64_t degree;
  double cost;
};

/// The divisors of `number` that `allowed` accepts, the cheapest first; of equally far ones the smaller
/// first.
template <class Allowed>
std::vector<Candidate> divisors(std::int64_t number, std::int64_t from, Allowed allowed) {
  std::vector<Candidate> found;
  const auto add = [&](std::int64_t divisor) {
    if (divisor <= kMostGpus && allowed(divisor))
      found.push_back({divisor, change(from, divisor)});
  };
  for (std::int64_t divisor = 1; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) {
      add(divisor);
      if (divisor * divisor != number)
        add(number / divisor);
    }
  std::ranges::sort(found, {}, [](const Candidate& c) { return std::tuple(c.cost, c.degree); });
  return found;
}

struct Degrees {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t chunks = 1;
};

class NearestDegrees {
public:
  NearestDegrees(const ModelShape& model, const ParallelPlan& plan, std::int64_t gpus)
      : model_(model),
        plan_(plan),
        from_{.tensor = plan.tensor,
              .pipeline = plan.pipeline,
              .data = plan.data,
              .context = plan.context,
              .expert = plan.expert,
              .chunks = plan.virtual_stages},
        gpus_(gpus),
        tensors_(divisors(model.heads, from_.tensor,
                          [&](std::int64_t degree) {
                            return splits_key_values(model, degree) && model.hidden % degree == 0 &&
                                   model.ffn_hidden % degree == 0;
                          })),
        contexts_(divisors(model.sequence_length, from_.context,
                           [&](std::int64_t degree) { return splits_context(model, degree); })),
        experts_(
            divisors(model.moe ? model.moe->experts : 1, from_.expert, [](std::int64_t) { return true; })) {}

  /// The nearest degrees. The smallest change of tp wins among equals, then of pp, then of dp.
  Degrees search() {
    for (const Candidate& tensor : tensors_) {
      const std::int64_t groups = gpus_ / tensor.degree;
      for (std::int64_t pipeline = std::min({from_.pipeline, model_.layers, groups}); pipeline >= 1;
           --pipeline) {
        const double stages_cost = tensor.cost + change(from_.pipeline, pipeline);
        if (++visits_ > kMostVisits || stages_cost >= best_cost_ - kEqualCosts)
          break;
        const std::int64_t chunks = pipeline == 1 ? 1 : std::min(from_.chunks, model_.layers / pipeline);
        const double cost = stages_cost + change(from_.chunks, chunks);
        // What is more than there are GPUs for has to come from dp and cp.
        const double excess = over(from_.data * from_.context, groups / pipeline);
        const double at_least = cost + experts_.front().cost + std::max(contexts_.front().cost, excess);
        if (at_least < best_cost_ - kEqualCosts)
          search_data({.tensor = tensor.degree, .pipeline = pipeline, .chunks = chunks}, cost);
      }
    }
    return best_;
  }

private:
  /// What it costs at least to bring a product of degrees down to `most`.
  static double over(std::int64_t product, std::int64_t most) {
    return product <= most ? 0.0 : change(product, most);
  }

  /// The multiple of `step` nearest to the data-parallel degree wanted, at most `most`; none if there is
  /// none.
  [[nodiscard]] std::optional<std::int64_t> nearest_data(std::int64_t step, std::int64_t most) const {
    const std::int64_t highest = most / step * step;
    if (highest == 0)
      return std::nullopt;
    const std::int64_t below = std::min(from_.data / step * step, highest);
    const std::int64_t above = std::min(below + step, highest);
    if (below == 0 || change(from_.data, above) < change(from_.data, below) - kEqualCosts)
      return above;
    return below;
  }

  /// Tries every context and expert degree with the tensor and pipeline degrees of `degrees`, which cost
  /// `cost`.
  void search_data(Degrees degrees, double cost) {
    double least = best_cost_ - 2.0 * kEqualCosts; // to be undercut or, among equals, met
    double least_data_cost = std::numeric_limits<double>::infinity();
    for (const Candidate& context : contexts_) {
      const double context_cost = cost + context.cost;
      if (++visits_ > kMostVisits || context_cost > least + kEqualCosts)
        break;
      const std::int64_t most = gpus_ / degrees.tensor / degrees.pipeline / context.degree;
      if (most < 1 || context_cost + experts_.front().cost + over(from_.data, most) > least + kEqualCosts ||
          !splits(degrees, context))
        continue;
      for (const Candidate& expert : experts_) {
        if (++visits_ > kMostVisits || context_cost + expert.cost > least + kEqualCosts)
          break;
        const auto data = nearest_data(expert.degree / std::gcd(expert.degree, context.degree), most);
        const double data_cost = data ? change(from_.data, *data) : 0.0;
        const double total = context_cost + expert.cost + data_cost;
        const bool undercuts = total < least - kEqualCosts;
        const bool meets = total <= least + kEqualCosts && data_cost < least_data_cost - kEqualCosts;
        if (!data || !(undercuts || meets))
          continue;
        degrees.data = *data;
        degrees.context = context.degree;
        degrees.expert = expert.degree;
        best_ = degrees;
        best_cost_ = total;
        least = std::min(least, total);
        least_data_cost = data_cost;
      }
    }
  }

  /// Whether sequence parallelism can split what a context-parallel rank has.
  [[nodiscard]] bool splits(const Degrees& degrees, const Candidate& context) const {
    return !plan_.sequence_parallel || degrees.tensor == 1 ||
           splits_sequence(model_, degrees.tensor, context.degree);
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  Degrees from_;
  std::int64_t gpus_;
  std::vector<Candidate> tensors_;
  std::vector<Candidate> contexts_;
  std::vector<Candidate> experts_;
  std::int64_t visits_ = 0;
  Degrees best_; ///< all 1 at first, which is possible wherever there is a GPU
  double best_cost_ = std::numeric_limits<double>::infinity();
};

/// The plan with numbers below 1 and settings that no degree could put right replaced by the next best.
ParallelPlan with_possible_settings(ParallelPlan plan, const Gpu& gpu) {
  for (std::int32_t* degree :
       {&plan.tensor, &plan.pipeline, &plan.data, &plan.context, &plan.expert, &plan.virtual_stages})
    *degree = std::max(*degree, 1);
  plan.micro_batch = std::clamp<std::int64_t>(plan.micro_batch, 1, kMostSamples);
  plan.global_batch = std::clamp<std::int64_t>(plan.global_batch, 1, kMostSamples);
  if (plan.precision == Precision::fp8 && !gpu.peak_fp8)
    plan.precision = Precision::bf16;
  if (plan.precision != Precision::fp16 && !gpu.bf16)
    plan.precision = Precision::fp16;
  const ParallelPlan usual;
  if (!is_permutation(plan.rank_order))
    plan.rank_order = usual.rank_order;
  if (!(plan.bucket > Bytes{0.0}) || !std::isfinite(plan.bucket.base()))
    plan.bucket = usual.bucket;
  return plan;
}

/// Fits the settings that depend on degrees to them.
void fit_settings(const ModelShape& model, ParallelPlan& plan) {
  const bool interleaves = plan.schedule == pipeline::ScheduleKind::interleaved;
  if (plan.virtual_stages > 1)
    plan.schedule = pipeline::ScheduleKind::interleaved;
  else if (interleaves && plan.pipeline > 1)
    plan.schedule = pipeline::ScheduleKind::one_f_one_b;
  const auto& given = plan.stage_layers;
  const bool keeps_layers = std::cmp_equal(given.size(), std::int64_t{plan.pipeline} * plan.virtual_stages) &&
                            std::ranges::all_of(given, [](std::int32_t layers) { return layers >= 1; }) &&
                            std::accumulate(given.begin(), given.end(), std::int64_t{0}) == model.layers;
  if (!keeps_layers)
    plan.stage_layers.clear();
  plan.zero = std::clamp(plan.zero, 0, plan.pipeline > 1 ? 1 : 3);
  if (plan.cpu_offload)
    plan.zero = std::max(plan.zero, 1);
  const std::int64_t replicas = std::int64_t{plan.data} * plan.context;
  if (plan.zero == 0 || plan.shard_group < 0)
    plan.shard_group = 0;
  else if (plan.shard_group > 0)
    plan.shard_group = static_cast<std::int32_t>(
        divisors(replicas, plan.shard_group, [](std::int64_t) { return true; }).front().degree);
  if (plan.context > 1)
    plan.attention = AttentionKernel::flash;
}

/// Rounds the global batch; the micro-batch shrinks only where no batch could hold one for each rank.
void fit_batch(ParallelPlan& plan) {
  if (!batch_unit(plan)) {
    plan.micro_batch = 1;
    const std::optional<std::int64_t> least = batch_unit(plan);
    plan.micro_batch = least ? kMostSamples / *least : 1;
  }
  const std::vector<std::int64_t> batches = nearest_batches(plan);
  if (!batches.empty())
    plan.global_batch = *std::ranges::min_element(
        batches, {}, [&](std::int64_t batch) { return change(plan.global_batch, batch); });
}

} // namespace

std::optional<ParallelPlan> nearest_plan(const ModelShape& model, const ParallelPlan& plan, const Gpu& gpu,
                                         std::optional<std::int64_t> gpus) {
  Diagnostics impossible;
  check_model(model, {}, impossible);
  const std::int64_t most = std::min(gpus.value_or(kMostGpus), kMostGpus);
  if (impossible.has_errors() || most < 1)
    return std::nullopt;
  ParallelPlan near = with_possible_settings(plan, gpu);
  const Degrees degrees = NearestDegrees(model, near, most).search();
  near.tensor = static_cast<std::int32_t>(degrees.tensor);
  near.pipeline = static_cast<std::int32_t>(degrees.pipeline);
  near.data = static_cast<std::int32_t>(degrees.data);
  near.context = static_cast<std::int32_t>(degrees.context);
  near.expert = static_cast<std::int32_t>(degrees.expert);
  near.virtual_stages = static_cast<std::int32_t>(degrees.chunks);
  fit_settings(model, near);
  fit_batch(near);
  VTRAIN_ASSERT(plan_faults(model, near, gpu, gpus).empty(), "the nearest plan is possible");
  return near;
}

} // namespace vtrain
