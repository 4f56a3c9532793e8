// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/plan_cases.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace vtrain;
using test::gpt3;
using test::gpu;
using test::plan_of;

namespace {

constexpr std::int32_t kHuge = std::numeric_limits<std::int32_t>::max();

ModelShape mixtral() {
  return {.name = "mixtral-8x7b",
          .source = {},
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .ffn_hidden = 14336,
          .vocab = 32000,
          .sequence_length = 4096,
          .moe = MixtureOfExperts{}};
}

std::string faults(const ModelShape& model, const ParallelPlan& plan,
                   std::optional<std::int64_t> gpus = std::nullopt,
                   std::string_view gpu_name = "A100-SXM-80GB") {
  std::string text;
  for (const std::string& fault : plan_faults(model, plan, gpu(gpu_name), gpus))
    text += fault + "\n";
  return text;
}

} // namespace

TEST_CASE("the published plan of GPT-3 175B is possible") {
  ParallelPlan plan = plan_of(8, 8, 16, 1536);
  plan.virtual_stages = 3;
  plan.schedule = pipeline::ScheduleKind::interleaved;
  plan.sequence_parallel = true;
  plan.recompute = Recompute::selective;
  CHECK(faults(gpt3(), plan, 1024) == "");
  CHECK(faults(gpt3(), plan, 1023) == "tp 8 x pp 8 x dp 16 needs 1024 GPUs, and there are 1023\n");
}

TEST_CASE("a degree that does not split the model is named with the numbers") {
  CHECK(faults(gpt3(), plan_of(7, 1, 1, 1)) ==
        "96 heads cannot be split over tensor-parallel degree 7\n"
        "hidden size 12288 cannot be split over tensor-parallel degree 7\n"
        "FFN width 49152 cannot be split over tensor-parallel degree 7\n");
  CHECK(faults(gpt3(), plan_of(1, 97, 1, 1)) == "96 layers are too few for pipeline-parallel degree 97\n");
  CHECK(faults(gpt3(), plan_of(1, 95, 1, 1)) == ""); // uneven, but there is a layer for each stage
}

TEST_CASE("key-value heads are split over tensor-parallel ranks or repeated on them") {
  CHECK(faults(mixtral(), plan_of(4, 1, 1, 1)) == "");
  CHECK(faults(mixtral(), plan_of(16, 1, 1, 1)) == "");
  ModelShape odd = gpt3();
  odd.kv_heads = 6;
  CHECK(faults(odd, plan_of(4, 1, 1, 1)) ==
        "6 key-value heads can neither be split over nor repeated evenly on tensor-parallel degree 4\n");
  CHECK(faults(odd, plan_of(12, 1, 1, 1)) == "");
}

TEST_CASE("numbers below 1 are all reported, and nothing else because of them") {
  ParallelPlan plan;
  plan.tensor = 0;
  plan.pipeline = -1;
  plan.data = std::numeric_limits<std::int32_t>::min();
  plan.context = 0;
  plan.expert = 0;
  plan.virtual_stages = 0;
  plan.micro_batch = 0;
  plan.global_batch = -5;
  CHECK(faults(gpt3(), plan) == "the tensor-parallel degree must be at least 1, not 0\n"
                                "the pipeline-parallel degree must be at least 1, not -1\n"
                                "the data-parallel degree must be at least 1, not -2147483648\n"
                                "the context-parallel degree must be at least 1, not 0\n"
                                "the expert-parallel degree must be at least 1, not 0\n"
                                "the number of virtual stages must be at least 1, not 0\n"
                                "the micro-batch must be at least 1, not 0\n"
                                "the global batch must be at least 1, not -5\n");
}

TEST_CASE("a batch that does not divide comes with the nearest that do") {
  ParallelPlan plan = plan_of(1, 1, 16, 1000);
  plan.micro_batch = 4;
  CHECK(faults(gpt3(), plan) == "global batch 1000 is not divisible by data-parallel degree 16 x micro-batch "
                                "4: the nearest are 960 and 1024\n");
  plan.global_batch = 5;
  CHECK(faults(gpt3(), plan) == "global batch 5 is not divisible by data-parallel degree 16 x micro-batch 4: "
                                "the nearest is 64\n");
  plan.global_batch = 1000;
  plan.pipeline = 4;
  plan.virtual_stages = 2;
  plan.schedule = pipeline::ScheduleKind::interleaved;
  CHECK(faults(gpt3(), plan) == "global batch 1000 is not divisible by data-parallel degree 16 x micro-batch "
                                "4: the nearest are 768 and 1024\n"); // multiples of 4 x 16 x 4
}

TEST_CASE("virtual stages and the interleaved schedule need each other") {
  ParallelPlan plan = plan_of(1, 4, 1, 8);
  plan.virtual_stages = 2;
  CHECK(faults(gpt3(), plan) == "2 virtual stages need the interleaved schedule, not 1f1b\n");
  plan.schedule = pipeline::ScheduleKind::interleaved;
  CHECK(faults(gpt3(), plan) == "");
  plan.global_batch = 6;
  CHECK(faults(gpt3(), plan) ==
        "the interleaved schedule needs a multiple of its 4 stages as micro-batches, not 6\n");
  plan.virtual_stages = 1;
  CHECK(faults(gpt3(), plan) == "the interleaved schedule needs more than 1 virtual stage\n");
  plan.virtual_stages = 2;
  plan.pipeline = 1;
  CHECK(faults(gpt3(), plan) == "2 virtual stages need a pipeline-parallel degree above 1\n");
  plan.pipeline = 64;
  plan.global_batch = 64;
  CHECK(faults(gpt3(), plan) ==
        "96 layers are too few for pipeline-parallel degree 64 with 2 virtual stages each\n");
}

TEST_CASE("the layers of the stages must fit the stages and the model") {
  ParallelPlan plan = plan_of(1, 4, 1, 8);
  plan.stage_layers = {23, 25, 25, 23};
  CHECK(faults(gpt3(), plan) == "");
  plan.stage_layers = {96, 1, 0};
  CHECK(faults(gpt3(), plan) == "the layers of 3 stages are given, but pipeline-parallel degree 4 with 1 "
                                "virtual stage each makes 4\n"
                                "each stage needs at least 1 layer, not 0\n"
                                "the layers of the stages add up to 97, but the model has 96\n");
  plan.stage_layers = {kHuge, kHuge, kHuge, kHuge};
  CHECK(faults(gpt3(), plan) == "the layers of the stages add up to 8589934588, but the model has 96\n");
}

TEST_CASE("the sequence is cut in two pieces for each context-parallel rank") {
  ParallelPlan plan = plan_of(1, 1, 1, 1);
  plan.context = 3;
  CHECK(faults(gpt3(), plan) ==
        "sequence length 2048 cannot be split over context-parallel degree 3: it must "
        "be a multiple of 6, two pieces for each rank\n");
  plan.context = 1024;
  CHECK(faults(gpt3(), plan) == "");
  plan.context = 2048;
  CHECK(faults(gpt3(), plan).starts_with("sequence length 2048 cannot be split"));
  plan.context = 2;
  plan.attention = AttentionKernel::plain;
  CHECK(faults(gpt3(), plan) ==
        "context-parallel degree 2 needs flash attention: plain attention sees the whole sequence\n");
}

TEST_CASE("sequence parallelism splits the tokens of a context-parallel rank") {
  ParallelPlan plan = plan_of(3, 1, 1, 1);
  CHECK(faults(gpt3(), plan) == "");
  plan.sequence_parallel = true;
  CHECK(faults(gpt3(), plan) ==
        "sequence parallelism cannot split 2048 tokens over tensor-parallel degree 3\n");
  plan.tensor = 32;
  plan.context = 128;
  CHECK(faults(gpt3(), plan) ==
        "sequence parallelism cannot split 16 tokens over tensor-parallel degree 32\n");
  plan.tensor = 1; // without tensor parallelism it is off, as in Megatron-LM
  CHECK(faults(gpt3(), plan) == "");
}

TEST_CASE("expert parallelism needs a mixture and ranks to take") {
  ParallelPlan plan = plan_of(1, 1, 8, 8);
  plan.expert = 8;
  CHECK(faults(mixtral(), plan) == "");
  CHECK(faults(gpt3(), plan) ==
        "expert-parallel degree 8 needs a mixture of experts, and the model is dense\n");
  plan.expert = 3;
  CHECK(faults(mixtral(), plan) ==
        "8 experts cannot be split over expert-parallel degree 3\n"
        "expert-parallel degree 3 does not divide data-parallel degree 8 x context-parallel degree 1\n");
  plan.expert = 8;
  plan.data = 4;
  CHECK(faults(mixtral(), plan) ==
        "expert-parallel degree 8 does not divide data-parallel degree 4 x context-parallel degree 1\n");
  plan.context = 2;
  CHECK(faults(mixtral(), plan) == "");
}

TEST_CASE("ZeRO has stages 0 to 3, and its upper ones do not go with pipelines") {
  ParallelPlan plan = plan_of(1, 1, 8, 8);
  plan.zero = 3;
  plan.shard_group = 4;
  plan.cpu_offload = true;
  CHECK(faults(gpt3(), plan) == "");
  plan.shard_group = 3;
  CHECK(faults(gpt3(), plan) ==
        "shard group 3 does not divide data-parallel degree 8 x context-parallel degree 1\n");
  plan.shard_group = 4;
  plan.zero = 0;
  CHECK(faults(gpt3(), plan) == "shard group 4 needs ZeRO stage 1 or higher\n"
                                "offload to the CPU needs ZeRO stage 1 or higher\n");
  plan.zero = 4;
  plan.shard_group = -1;
  CHECK(faults(gpt3(), plan) == "the ZeRO stage must be between 0 and 3, not 4\n"
                                "the shard group must not be negative, as -1 is\n");
  plan = plan_of(1, 2, 4, 8);
  plan.zero = 1;
  CHECK(faults(gpt3(), plan) == "");
  plan.zero = 2;
  CHECK(faults(gpt3(), plan).starts_with("ZeRO stage 2 does not go with pipeline-parallel degree 2"));
}

TEST_CASE("a precision needs a GPU that has it") {
  ParallelPlan plan;
  CHECK(faults(gpt3(), plan, {}, "V100-SXM2") == "V100-SXM2 has no bf16 tensor cores\n");
  plan.precision = Precision::fp16;
  CHECK(faults(gpt3(), plan, {}, "V100-SXM2") == "");
  plan.precision = Precision::fp8;
  CHECK(faults(gpt3(), plan, {}, "A100-SXM-80GB") == "A100-SXM-80GB has no fp8 tensor cores\n");
  CHECK(faults(gpt3(), plan, {}, "H100-SXM") == "");
}

TEST_CASE("the rank order is a permutation and a bucket holds something") {
  ParallelPlan plan;
  plan.rank_order[1] = ParallelAxis::tensor;
  plan.bucket = Bytes{std::numeric_limits<double>::quiet_NaN()};
  CHECK(faults(gpt3(), plan) ==
        "the rank order must name each of tp, cp, ep, dp and pp once, not tp-tp-ep-dp-pp\n"
        "the gradient bucket must be greater than 0\n");
}

TEST_CASE("numbers up to 2^31 do not overflow") {
  ParallelPlan plan = plan_of(kHuge, kHuge, kHuge, std::numeric_limits<std::int64_t>::max());
  plan.context = plan.expert = plan.virtual_stages = plan.shard_group = kHuge;
  plan.micro_batch = kHuge;
  plan.sequence_parallel = true;
  CHECK(plan_faults(gpt3(), plan, gpu("A100")).size() >= 8);
  CHECK(plan_faults(mixtral(), plan, gpu("A100"), std::numeric_limits<std::int64_t>::max()).size() >= 8);
  CHECK(faults(gpt3(), plan, -1).ends_with(" needs more than 2147483647 GPUs, and there are 0\n"));
  plan.global_batch = kHuge;
  CHECK(plan_faults(gpt3(), plan, gpu("A100")).size() >= 8);
}

TEST_CASE("a model that is no model is said to be none") {
  ModelShape model = gpt3();
  model.heads = 0;
  model.layers = -1;
  CHECK(faults(model, ParallelPlan{}) ==
        "layers must be at least 1, not -1\nheads must be at least 1, not 0\n");
  CHECK_FALSE(nearest_plan(model, ParallelPlan{}, gpu("A100")));
  CHECK_FALSE(nearest_plan(ModelShape{}, ParallelPlan{}, gpu("A100")));
}

TEST_CASE("the vocabulary is padded to a multiple of 128 for each tensor-parallel rank") {
  CHECK(padded_vocab(gpt3(), plan_of(1, 1, 1, 1)) == 50304);
  CHECK(padded_vocab(gpt3(), plan_of(8, 1, 1, 1)) == 51200);
  ModelShape model = gpt3();
  model.vocab = 51200;
  CHECK(padded_vocab(model, plan_of(8, 1, 1, 1)) == 51200);
}

TEST_CASE("layers are spread over the stages evenly, the middle ones taking what is left") {
  using Layers = std::vector<std::int32_t>;
  ModelShape model = gpt3();
  ParallelPlan plan = plan_of(1, 4, 1, 1);
  CHECK(layers_of_stages(model, plan) == Layers{24, 24, 24, 24});
  model.layers = 10;
  CHECK(layers_of_stages(model, plan) == Layers{2, 3, 3, 2});
  model.layers = 9;
  CHECK(layers_of_stages(model, plan) == Layers{2, 3, 2, 2});
  model.layers = 11;
  CHECK(layers_of_stages(model, plan) == Layers{3, 3, 3, 2});
  plan.virtual_stages = 2;
  CHECK(layers_of_stages(model, plan) == Layers{1, 1, 2, 2, 2, 1, 1, 1});
  plan.stage_layers = {1, 2, 3, 4};
  CHECK(layers_of_stages(model, plan) == Layers{1, 2, 3, 4});
}

TEST_CASE("a plan is described by its degrees and by what is not usual") {
  ParallelPlan plan = plan_of(8, 16, 4, 64);
  plan.micro_batch = 2;
  CHECK(describe(plan) == "tp8 pp16 dp4 mb2");
  plan.context = 2;
  plan.expert = 8;
  plan.virtual_stages = 3;
  plan.sequence_parallel = true;
  plan.zero = 1;
  plan.recompute = Recompute::full;
  CHECK(describe(plan) == "tp8 cp2 ep8 pp16 dp4 vs3 mb2 sp zero1 recompute-full");
}

TEST_CASE("the words of the settings read back") {
  for (const Recompute value : {Recompute::none, Recompute::selective, Recompute::full})
    CHECK(parse_recompute(to_string(value)) == value);
  for (const Precision value : {Precision::fp16, Precision::bf16, Precision::fp8})
    CHECK(parse_precision(to_string(value)) == value);
  for (const AttentionKernel value : {AttentionKernel::plain, AttentionKernel::flash})
    CHECK(parse_attention(to_string(value)) == value);
  CHECK(parse_axis("cp") == ParallelAxis::context);
  CHECK_FALSE(parse_recompute("Full"));
  CHECK_FALSE(parse_precision(""));
  const ParallelPlan plan;
  CHECK(to_string(plan.rank_order) == "tp-cp-ep-dp-pp");
  CHECK(parse_rank_order("tp-cp-ep-dp-pp") == plan.rank_order);
  CHECK(parse_rank_order("pp-dp-tp-ep-cp")->front() == ParallelAxis::pipeline);
  for (const char* wrong : {"", "tp", "tp-cp-ep-dp", "tp-cp-ep-dp-dp", "tp-cp-ep-dp-pp-", "tp-cp-ep-dp-pp-tp",
                            "tp_cp_ep_dp_pp", "-----"})
    CHECK_FALSE(parse_rank_order(wrong));
}
