// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/megatron_arguments.hpp"

#include "common/suggest.hpp"
#include "vtrain_core/formats/megatron_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace vtrain {
namespace {

std::int64_t required(MegatronFlags& flags, std::string_view name) {
  if (flags.has(name))
    return flags.count(name).value_or(1);
  flags.error(name, fmt::format("--{} is missing", name));
  return 1;
}

/// The FFN's width if none is given: Megatron-LM's rule keeps a gated FFN as large as an ungated one.
std::int64_t usual_ffn_hidden(std::int64_t hidden, bool gated) {
  constexpr std::int64_t kMultiple = 64;
  return gated ? std::max<std::int64_t>(8 * hidden / 3 / kMultiple * kMultiple, 1) : 4 * hidden;
}

/// The tokenizers whose vocabulary is no question.
std::int64_t read_vocab(MegatronFlags& flags) {
  constexpr std::int64_t kGpt2 = 50257;
  constexpr std::int64_t kLlama2 = 32000;
  if (flags.has("vocab-size"))
    return flags.count("vocab-size").value_or(1);
  const std::optional<std::string> tokenizer =
      flags.has("tokenizer-type") ? flags.word("tokenizer-type") : std::nullopt;
  if (tokenizer == "GPT2BPETokenizer" || (!tokenizer && flags.has("merge-file")))
    return kGpt2;
  if (tokenizer == "Llama2Tokenizer")
    return kLlama2;
  flags.error("tokenizer-type", "the size of the vocabulary is missing",
              "add --vocab-size, as in --vocab-size 50257");
  return 1;
}

void read_attention(MegatronFlags& flags, ModelShape& model) {
  model.heads = required(flags, "num-attention-heads");
  model.kv_heads = model.heads;
  if (flags.has("group-query-attention"))
    model.kv_heads = flags.has("num-query-groups") ? flags.count("num-query-groups").value_or(1) : 1;
  const std::int64_t even = model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
  model.head_dim = flags.has("kv-channels") ? flags.count("kv-channels").value_or(1) : even;
}

void read_positions(MegatronFlags& flags, ModelShape& model) {
  constexpr auto kLength =
      std::to_array<std::string_view>({"seq-length", "encoder-seq-length", "max-position-embeddings"});
  const auto length = std::ranges::find_if(kLength, [&](std::string_view name) { return flags.has(name); });
  model.sequence_length = required(flags, length == kLength.end() ? kLength.front() : *length);
  const std::string type = flags.has("position-embedding-type")
                               ? flags.word("position-embedding-type").value_or("none")
                               : "learned_absolute";
  const std::vector<std::string> known{"learned_absolute", "rope", "alibi", "relative", "none"};
  if (std::ranges::find(known, type) == known.end())
    flags.error("position-embedding-type", fmt::format("--position-embedding-type cannot be '{}'", type),
                suggest(type, known));
  model.rotary = type == "rope" || flags.has("use-rotary-position-embeddings");
  model.learned_positions = !model.rotary && type == "learned_absolute";
}

void read_mixture(MegatronFlags& flags, ModelShape& model) {
  const auto experts = flags.has("num-experts") ? flags.count("num-experts") : std::nullopt;
  if (!experts)
    return;
  MixtureOfExperts moe;
  moe.experts = *experts;
  if (flags.has("moe-router-topk"))
    moe.top_k = flags.count("moe-router-topk").value_or(moe.top_k);
  if (flags.has("moe-layer-freq"))
    moe.every = flags.count("moe-layer-freq").value_or(1);
  if (flags.has("moe-expert-capacity-factor"))
    moe.capacity_factor = flags.number("moe-expert-capacity-factor").value_or(1.0);
  if (flags.has("moe-ffn-hidden-size"))
    model.ffn_hidden = flags.count("moe-ffn-hidden-size").value_or(1);
  if (flags.has("moe-shared-expert-intermediate-size")) {
    const std::int64_t shared = flags.count("moe-shared-expert-intermediate-size").value_or(model.ffn_hidden);
    if (shared % model.ffn_hidden != 0)
      flags.error("moe-shared-expert-intermediate-size",
                  fmt::format("a shared expert of width {} is not made of experts of width {}", shared,
                              model.ffn_hidden));
    moe.shared_experts = shared / model.ffn_hidden;
  }
  model.moe = moe;
}

ModelShape read_shape(MegatronFlags& flags, const std::string& file) {
  ModelShape model;
  model.name = "megatron";
  model.source = file;
  model.layers = required(flags, "num-layers");
  model.hidden = required(flags, "hidden-size");
  read_attention(flags, model);
  model.gated_ffn = flags.has("swiglu");
  model.ffn_hidden = flags.has("ffn-hidden-size") ? flags.count("ffn-hidden-size").value_or(1)
                                                  : usual_ffn_hidden(model.hidden, model.gated_ffn);
  read_positions(flags, model);
  model.vocab = read_vocab(flags);
  model.tied_embeddings = !flags.has("untie-embeddings-and-output-weights");
  model.biases = !flags.has("disable-bias-linear");
  read_mixture(flags, model);
  return model;
}

/// Reads the plan and notes which settings the script gives.
class PlanReader {
public:
  PlanReader(MegatronFlags& flags, std::int64_t layers) : flags_(flags), layers_(layers) {}

  MegatronArguments read() && {
    degree("tensor-model-parallel-size", "tp", plan_.tensor);
    degree("pipeline-model-parallel-size", "pp", plan_.pipeline);
    degree("context-parallel-size", "cp", plan_.context);
    degree("expert-model-parallel-size", "ep", plan_.expert);
    read_virtual_stages();
    read_gpus();
    read_batch();
    read_switches();
    read_recompute();
    read_zero();
    read_precision();
    read_attention_kernel();
    std::ranges::sort(given_);
    return {.model = {}, .plan = plan_, .given = std::move(given_), .gpus = gpus_};
  }

private:
  void degree(std::string_view name, std::string_view key, std::int32_t& value) {
    if (!flags_.has(name))
      return;
    value = static_cast<std::int32_t>(flags_.count(name).value_or(1)); // at most 10^9
    given_.emplace_back(key);
  }

  void read_virtual_stages() {
    std::int64_t chunks = 1;
    if (flags_.has("num-virtual-stages-per-pipeline-rank")) {
      chunks = flags_.count("num-virtual-stages-per-pipeline-rank").value_or(1);
    } else if (flags_.has("num-layers-per-virtual-pipeline-stage")) {
      const std::int64_t each = flags_.count("num-layers-per-virtual-pipeline-stage").value_or(1);
      const std::int64_t layers_of_all = plan_.pipeline * each;
      if (layers_ % layers_of_all != 0)
        flags_.error(
            "num-layers-per-virtual-pipeline-stage",
            fmt::format("{} layers are not divisible by pipeline-parallel degree {} x {} layers of a "
                        "virtual stage",
                        layers_, plan_.pipeline, each));
      chunks = std::max<std::int64_t>(layers_ / layers_of_all, 1);
    } else {
      return;
    }
    plan_.virtual_stages = static_cast<std::int32_t>(chunks);
    given_.insert(given_.end(), {"schedule", "virtual_stages"});
    if (chunks == 1)
      return;
    plan_.schedule = pipeline::ScheduleKind::interleaved;
    plan_.overlap_pipeline = !flags_.has("no-overlap-p2p-communication"); // Megatron-LM's default
    given_.emplace_back("overlap_pipeline");
  }

  /// The data-parallel degree, if the launcher's numbers are known.
  void read_gpus() {
    const auto per_node = flags_.quiet_count("nproc-per-node");
    const auto nodes = flags_.quiet_count("nnodes");
    if (!per_node || (!nodes && flags_.has("nnodes")))
      return;
    const std::int64_t gpus = *per_node * nodes.value_or(1);
    const std::int64_t tensor_and_context = std::int64_t{plan_.tensor} * plan_.context;
    if (gpus > std::numeric_limits<std::int32_t>::max())
      return;
    gpus_ = gpus;
    if (tensor_and_context > gpus || gpus % (tensor_and_context * plan_.pipeline) != 0)
      return;
    plan_.data = static_cast<std::int32_t>(gpus / (tensor_and_context * plan_.pipeline));
    given_.emplace_back("dp");
  }

  void read_batch() {
    if (flags_.has("micro-batch-size")) {
      plan_.micro_batch = flags_.count("micro-batch-size").value_or(1);
      given_.emplace_back("micro_batch");
    }
    plan_.global_batch = plan_.micro_batch * plan_.data; // Megatron-LM's default
    if (flags_.has("global-batch-size")) {
      plan_.global_batch = flags_.count("global-batch-size").value_or(1);
      given_.emplace_back("global_batch");
    }
  }

  void turn_on(std::string_view name, std::string_view key, bool& setting) {
    if (!flags_.has(name))
      return;
    setting = true;
    given_.emplace_back(key);
  }

  void read_switches() {
    turn_on("sequence-parallel", "sequence_parallel", plan_.sequence_parallel);
    turn_on("overlap-grad-reduce", "overlap_grad_reduce", plan_.overlap_grad_reduce);
    turn_on("overlap-param-gather", "overlap_param_gather", plan_.overlap_param_gather);
    turn_on("tp-comm-overlap", "overlap_tensor", plan_.overlap_tensor);
    turn_on("optimizer-cpu-offload", "cpu_offload", plan_.cpu_offload);
    if (!flags_.has("use-tp-pp-dp-mapping"))
      return;
    plan_.rank_order = {ParallelAxis::tensor, ParallelAxis::context, ParallelAxis::expert,
                        ParallelAxis::pipeline, ParallelAxis::data};
    given_.emplace_back("rank_order");
  }

  void read_recompute() {
    if (flags_.has("recompute-granularity")) {
      const std::string granularity = flags_.word("recompute-granularity").value_or("full");
      const std::vector<std::string> known{"full", "selective"};
      if (std::ranges::find(known, granularity) == known.end())
        flags_.error("recompute-granularity",
                     fmt::format("--recompute-granularity cannot be '{}'", granularity),
                     suggest(granularity, known));
      plan_.recompute = granularity == "selective" ? Recompute::selective : Recompute::full;
    } else if (flags_.has("recompute-activations")) {
      plan_.recompute = Recompute::selective;
    } else if (flags_.has("checkpoint-activations")) { // before 2022
      plan_.recompute = Recompute::full;
    } else {
      return;
    }
    given_.emplace_back("recompute");
    if (plan_.recompute == Recompute::full && flags_.has("recompute-method") &&
        flags_.word("recompute-method") == "block")
      flags_.warning("recompute-method",
                     "only some layers would be recomputed (--recompute-method block); here all of them are");
  }

  void read_zero() {
    if (flags_.has("zero-stage")) { // Megatron-DeepSpeed
      const std::optional<std::string> stage = flags_.word("zero-stage");
      const bool fits = stage && stage->size() == 1 && stage->front() >= '0' && stage->front() <= '3';
      if (stage && !fits)
        flags_.error("zero-stage", fmt::format("--zero-stage must be between 0 and 3, not {}", *stage));
      plan_.zero = fits ? stage->front() - '0' : 0;
    } else if (flags_.has("use-distributed-optimizer")) {
      plan_.zero = 1;
    } else {
      return;
    }
    given_.emplace_back("zero");
  }

  void read_precision() {
    const bool fp8 = flags_.has("fp8-format") || flags_.has("fp8-hybrid");
    const bool fp16 = flags_.has("fp16");
    if (fp16 && flags_.has("bf16"))
      flags_.error("fp16", "--fp16 and --bf16 exclude each other");
    if (!fp8 && !fp16 && !flags_.has("bf16")) {
      flags_.warning("precision",
                     "neither --bf16 nor --fp16 is given: bf16 is taken, Megatron-LM would use fp32");
      return;
    }
    plan_.precision = fp8 ? Precision::fp8 : fp16 ? Precision::fp16 : Precision::bf16;
    given_.emplace_back("precision");
  }

  void read_attention_kernel() {
    const std::string backend =
        flags_.has("attention-backend") ? flags_.word("attention-backend").value_or("auto") : "auto";
    const bool plain = backend == "unfused" || backend == "local";
    if (!plain && backend == "auto" && !flags_.has("use-flash-attn"))
      return;
    plan_.attention = plain ? AttentionKernel::plain : AttentionKernel::flash;
    given_.emplace_back("attention");
  }

  MegatronFlags& flags_;
  std::int64_t layers_;
  ParallelPlan plan_;
  std::vector<std::string> given_;
  std::optional<std::int64_t> gpus_;
};

} // namespace

MegatronArguments read_megatron_arguments(std::string_view text, const std::string& file,
                                          Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  MegatronFlags flags(text, file, diagnostics);
  if (!flags.any()) {
    diagnostics.error({file, 0, 0}, "there is no argument of Megatron-LM in this",
                      "--num-layers, --hidden-size and others were expected");
    return {};
  }
  ModelShape model = read_shape(flags, file);
  MegatronArguments arguments = PlanReader(flags, model.layers).read();
  arguments.model = std::move(model);
  if (diagnostics.error_count() == errors_before)
    check_model(arguments.model, {file, 0, 0}, diagnostics);
  return arguments;
}

} // namespace vtrain
