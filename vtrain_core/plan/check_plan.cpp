// SPDX-License-Identifier: MIT
#include "vtrain_core/plan/check_plan.hpp"

#include "vtrain_core/plan/plan_rules.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace vtrain {
namespace {

/// Collects the faults of one plan. Each check looks only at settings that are in range, so that one wrong
/// number gives one fault.
class PlanCheck {
public:
  PlanCheck(const ModelShape& model, const ParallelPlan& plan, const Gpu& gpu,
            std::optional<std::int64_t> gpus)
      : model_(model),
        plan_(plan),
        gpu_(gpu),
        gpus_(gpus),
        // A degree that is out of range counts as 1 in what is checked after it.
        tensor_(in_range(plan.tensor)),
        pipeline_(in_range(plan.pipeline)),
        data_(in_range(plan.data)),
        context_(in_range(plan.context)),
        expert_(in_range(plan.expert)),
        chunks_(in_range(plan.virtual_stages)) {}

  std::vector<std::string> faults() && {
    check_degrees();
    check_tensor();
    check_stages();
    check_stage_layers();
    check_batch();
    check_schedule();
    check_sequence();
    check_expert();
    check_zero();
    check_gpu();
    check_order_and_bucket();
    check_gpu_count();
    return std::move(faults_);
  }

private:
  static std::int64_t in_range(std::int32_t degree) { return std::max(degree, 1); }

  template <class... T> void fault(fmt::format_string<T...> text, T&&... values) {
    faults_.push_back(fmt::format(text, std::forward<T>(values)...));
  }

  void check_degrees() {
    const auto at_least_one = [&](std::string_view name, std::int64_t value) {
      if (value < 1)
        fault("{} must be at least 1, not {}", name, value);
      else if (value > kMostSamples)
        fault("{} must be at most {}, not {}", name, kMostSamples, value);
    };
    at_least_one("the tensor-parallel degree", plan_.tensor);
    at_least_one("the pipeline-parallel degree", plan_.pipeline);
    at_least_one("the data-parallel degree", plan_.data);
    at_least_one("the context-parallel degree", plan_.context);
    at_least_one("the expert-parallel degree", plan_.expert);
    at_least_one("the number of virtual stages", plan_.virtual_stages);
    at_least_one("the micro-batch", plan_.micro_batch);
    at_least_one("the global batch", plan_.global_batch);
  }

  void check_tensor() {
    if (model_.heads % tensor_ != 0)
      fault("{} heads cannot be split over tensor-parallel degree {}", model_.heads, tensor_);
    else if (!splits_key_values(model_, tensor_))
      fault("{} key-value heads can neither be split over nor repeated evenly on tensor-parallel degree {}",
            model_.kv_heads, tensor_);
    if (model_.hidden % tensor_ != 0)
      fault("hidden size {} cannot be split over tensor-parallel degree {}", model_.hidden, tensor_);
    if (model_.ffn_hidden % tensor_ != 0)
      fault("FFN width {} cannot be split over tensor-parallel degree {}", model_.ffn_hidden, tensor_);
  }

  void check_stages() {
    if (pipeline_ * chunks_ <= model_.layers)
      return;
    if (chunks_ == 1)
      fault("{} layers are too few for pipeline-parallel degree {}", model_.layers, pipeline_);
    else
      fault("{} layers are too few for pipeline-parallel degree {} with {} virtual stages each",
            model_.layers, pipeline_, chunks_);
  }

  void check_stage_layers() {
    const std::vector<std::int32_t>& given = plan_.stage_layers;
    if (given.empty())
      return;
    const auto length = static_cast<std::int64_t>(given.size());
    if (length != pipeline_ * chunks_)
      fault("the layers of {} stages are given, but pipeline-parallel degree {} with {} virtual stage{} each "
            "makes {}",
            length, pipeline_, chunks_, chunks_ == 1 ? "" : "s", pipeline_ * chunks_);
    if (const std::int32_t least = *std::ranges::min_element(given); least < 1)
      fault("each stage needs at least 1 layer, not {}", least);
    if (const std::int64_t sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
        sum != model_.layers)
      fault("the layers of the stages add up to {}, but the model has {}", sum, model_.layers);
  }

  [[nodiscard]] bool batch_in_range() const {
    const auto fits = [](std::int64_t value) { return value >= 1 && value <= kMostSamples; };
    return fits(plan_.micro_batch) && fits(plan_.global_batch);
  }

  void check_batch() {
    if (!batch_in_range() || plan_.global_batch % (data_ * plan_.micro_batch) == 0)
      return;
    ParallelPlan usable = plan_;
    usable.data = static_cast<std::int32_t>(data_);
    usable.pipeline = static_cast<std::int32_t>(pipeline_);
    usable.virtual_stages = static_cast<std::int32_t>(chunks_);
    std::string nearest;
    for (const std::int64_t batch : nearest_batches(usable))
      nearest += fmt::format("{}{}", nearest.empty() ? "" : " and ", batch);
    const std::string_view verb = nearest.find(' ') == std::string::npos ? "is" : "are";
    fault("global batch {} is not divisible by data-parallel degree {} x micro-batch {}{}",
          plan_.global_batch, data_, plan_.micro_batch,
          nearest.empty() ? "" : fmt::format(": the nearest {} {}", verb, nearest));
  }

  void check_schedule() {
    const bool interleaves = plan_.schedule == pipeline::ScheduleKind::interleaved;
    if (chunks_ > 1 && !interleaves) {
      fault("{} virtual stages need the interleaved schedule, not {}", chunks_,
            pipeline::to_string(plan_.schedule));
    } else if (chunks_ > 1 && pipeline_ == 1) {
      fault("{} virtual stages need a pipeline-parallel degree above 1", chunks_);
    } else if (chunks_ == 1 && pipeline_ > 1 && interleaves) {
      fault("the interleaved schedule needs more than 1 virtual stage");
    } else if (pipeline_ * chunks_ <= model_.layers && batch_in_range() &&
               plan_.global_batch % (data_ * plan_.micro_batch) == 0) {
      const std::int64_t micro_batches = plan_.global_batch / data_ / plan_.micro_batch;
      if (auto reason = pipeline::schedule_fault(plan_.schedule, static_cast<int>(pipeline_),
                                                 static_cast<int>(micro_batches), static_cast<int>(chunks_)))
        faults_.push_back(*std::move(reason));
    }
  }

  void check_sequence() {
    const std::int64_t sequence = model_.sequence_length;
    if (!splits_context(model_, context_))
      fault(
          "sequence length {} cannot be split over context-parallel degree {}: it must be a multiple of {}, "
          "two pieces for each rank",
          sequence, context_, 2 * context_);
    else if (plan_.sequence_parallel && tensor_ > 1 && !splits_sequence(model_, tensor_, context_))
      fault("sequence parallelism cannot split {} tokens over tensor-parallel degree {}", sequence / context_,
            tensor_);
    if (context_ > 1 && plan_.attention == AttentionKernel::plain)
      fault("context-parallel degree {} needs flash attention: plain attention sees the whole sequence",
            context_);
  }

  void check_expert() {
    if (expert_ == 1)
      return;
    if (!model_.moe)
      fault("expert-parallel degree {} needs a mixture of experts, and the model is dense", expert_);
    else if (model_.moe->experts % expert_ != 0)
      fault("{} experts cannot be split over expert-parallel degree {}", model_.moe->experts, expert_);
    if (data_ * context_ % expert_ != 0)
      fault("expert-parallel degree {} does not divide data-parallel degree {} x context-parallel degree {}",
            expert_, data_, context_);
  }

  void check_zero() {
    if (plan_.zero < 0 || plan_.zero > 3)
      fault("the ZeRO stage must be between 0 and 3, not {}", plan_.zero);
    else if (plan_.zero >= 2 && pipeline_ > 1)
      fault("ZeRO stage {} does not go with pipeline-parallel degree {}: every micro-batch would reduce its "
            "gradients anew",
            plan_.zero, pipeline_);
    if (plan_.shard_group < 0)
      fault("the shard group must not be negative, as {} is", plan_.shard_group);
    else if (plan_.shard_group > 0 && data_ * context_ % plan_.shard_group != 0)
      fault("shard group {} does not divide data-parallel degree {} x context-parallel degree {}",
            plan_.shard_group, data_, context_);
    if (plan_.zero == 0 && plan_.shard_group > 0)
      fault("shard group {} needs ZeRO stage 1 or higher", plan_.shard_group);
    if (plan_.zero == 0 && plan_.cpu_offload)
      fault("offload to the CPU needs ZeRO stage 1 or higher");
  }

  void check_gpu() {
    if (plan_.precision == Precision::fp8 && !gpu_.peak_fp8)
      fault("{} has no fp8 tensor cores", gpu_.name);
    if (plan_.precision != Precision::fp16 && !gpu_.bf16)
      fault("{} has no bf16 tensor cores", gpu_.name);
  }

  void check_order_and_bucket() {
    if (!is_permutation(plan_.rank_order))
      fault("the rank order must name each of tp, cp, ep, dp and pp once, not {}",
            to_string(plan_.rank_order));
    // A NaN fails every comparison.
    if (!(plan_.bucket > Bytes{0.0}) || !std::isfinite(plan_.bucket.base()))
      fault("the gradient bucket must be greater than 0");
  }

  void check_gpu_count() {
    const std::array<std::int64_t, 4> degrees{tensor_, context_, pipeline_, data_};
    const std::int64_t most = std::clamp<std::int64_t>(gpus_.value_or(kMostGpus), 0, kMostGpus);
    std::int64_t needed = 1;
    for (const std::int64_t degree : degrees)
      needed = std::min(needed * degree, kMostGpus + 1);
    if (needed <= most)
      return;
    const std::string product =
        context_ == 1 ? fmt::format("tp {} x pp {} x dp {}", tensor_, pipeline_, data_)
                      : fmt::format("tp {} x cp {} x pp {} x dp {}", tensor_, context_, pipeline_, data_);
    if (!gpus_)
      fault("{} needs more than {} GPUs", product, kMostGpus);
    else
      fault("{} needs {}{} GPUs, and there {} {}", product, needed > kMostGpus ? "more than " : "",
            std::min(needed, kMostGpus), most == 1 ? "is" : "are", most);
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  const Gpu& gpu_;
  std::optional<std::int64_t> gpus_;
  std::int64_t tensor_;
  std::int64_t pipeline_;
  std::int64_t data_;
  std::int64_t context_;
  std::int64_t expert_;
  std::int64_t chunks_;
  std::vector<std::string> faults_;
};

} // namespace

std::vector<std::string> plan_faults(const ModelShape& model, const ParallelPlan& plan, const Gpu& gpu,
                                     std::optional<std::int64_t> gpus) {
  Diagnostics impossible;
  check_model(model, {}, impossible);
  std::vector<std::string> faults;
  for (const Diagnostic& finding : impossible.kept())
    faults.push_back(finding.message);
  return faults.empty() ? PlanCheck(model, plan, gpu, gpus).faults() : faults;
}

} // namespace vtrain
