// SPDX-License-Identifier: MIT
#include "platforms/catalogue.hpp"
#include "vtrain_core/formats/megatron_arguments.hpp"
#include "vtrain_core/formats/shell_words.hpp"
#include "vtrain_core/model/model_catalogue.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace vtrain;

namespace {

struct Reading {
  MegatronArguments arguments;
  std::string findings; ///< errors and warnings, one a line
};

Reading read(const std::string& text) {
  Diagnostics diagnostics;
  Reading reading{read_megatron_arguments(text, "run.sh", diagnostics), {}};
  for (const Diagnostic& finding : diagnostics.kept())
    reading.findings += to_string(finding) + "\n";
  return reading;
}

/// A shape without faults, to which a test adds what it is about.
const std::string kShape = "--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 "
                           "--vocab-size 50257 --bf16 ";

std::vector<std::string> texts(std::string_view script) {
  std::vector<std::string> words;
  for (const ShellWord& word : shell_words(script))
    words.push_back(word.text);
  return words;
}

using Words = std::vector<std::string>;

} // namespace

TEST_CASE("a script's words are found through continuations, comments, quotes and arrays") {
  CHECK(texts("a b \\\n  c # d\ne\\\r\n f") == Words{"a", "b", "c", "e", "f"});
  CHECK(texts("A='x y' B=\"z\"") == Words{"A=x y", "B=z"});
  CHECK(texts("ARGS=(\n --a 1\n --b\n)") == Words{"ARGS=", "--a", "1", "--b"});
  CHECK(texts("ARGS=\" \\\n --a 1 \\\n --b 'x y'\"; run $ARGS") ==
        Words{"ARGS=", "--a", "1", "--b", "x y", "run", "$ARGS"});
  CHECK(texts("${A[@]} $((B * 2)) $(ls -l) ${C:-8}") ==
        Words{"${A[@]}", "$((B * 2))", "$(ls -l)", "${C:-8}"});
  CHECK(texts("a#b \\#c don't") == Words{"a#b", "#c", "don't"});
  CHECK(texts("").empty());
  CHECK(texts("\\").size() == 1);
}

TEST_CASE("Megatron-LM's example of GPT-3 175B is read as the catalogue's shape and its plan") {
  const Reading reading = read(R"(#!/bin/bash
# Runs the "175B" parameter model
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
MASTER_ADDR=localhost
NUM_NODES=16
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
CHECKPOINT_PATH=$1 #<Specify path>
VOCAB_FILE=$3 #<Specify path to file>/gpt2-vocab.json
MERGE_FILE=$4 #<Specify path to file>/gpt2-merges.txt
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr $MASTER_ADDR
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --rampup-batch-size 16 16 5859375
    --train-iters 500000
    --weight-decay 0.1
    --fp16
    --lr 6.0e-5
    --lr-decay-style cosine
)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
DATA_ARGS=(
    --data-path $DATA_PATH
    --vocab-file $VOCAB_FILE
    --merge-file $MERGE_FILE
    --split 949,50,1
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]}
)");
  CHECK(reading.findings ==
        "run.sh:27:5: warning: --rampup-batch-size is passed over: neither a shape nor a plan can say it\n");
  ModelShape gpt3 = *ModelCatalogue::builtin().find("gpt3-175b");
  gpt3.name = reading.arguments.model.name;
  gpt3.source = "run.sh";
  CHECK(reading.arguments.model == gpt3);
  const ParallelPlan& plan = reading.arguments.plan;
  CHECK(describe(plan) == "tp8 pp16 dp1 mb1");
  CHECK(plan.global_batch == 1536);
  CHECK(plan.precision == Precision::fp16);
  CHECK(reading.arguments.gpus == 128);
  CHECK(reading.arguments.given == Words{"dp", "global_batch", "micro_batch", "pp", "precision", "tp"});
}

TEST_CASE("every argument of a plan is read and said to be given") {
  const Reading reading =
      read(kShape + "--fp8-format hybrid --tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 "
                    "--context-parallel-size 2 --expert-model-parallel-size 4 --num-experts 8 "
                    "--num-layers-per-virtual-pipeline-stage 4 --sequence-parallel --micro-batch-size 2 "
                    "--global-batch-size 64 --recompute-granularity full --recompute-method uniform "
                    "--recompute-num-layers 1 --use-distributed-optimizer --overlap-grad-reduce "
                    "--overlap-param-gather --tp-comm-overlap --use-flash-attn --use-tp-pp-dp-mapping "
                    "--optimizer-cpu-offload");
  CHECK(reading.findings == "");
  const ParallelPlan& plan = reading.arguments.plan;
  CHECK(describe(plan) == "tp8 cp2 ep4 pp8 dp1 vs3 mb2 sp zero1 recompute-full");
  CHECK(plan.schedule == pipeline::ScheduleKind::interleaved);
  CHECK(plan.overlap_pipeline);
  CHECK(plan.overlap_grad_reduce);
  CHECK(plan.overlap_param_gather);
  CHECK(plan.overlap_tensor);
  CHECK(plan.cpu_offload);
  CHECK(plan.precision == Precision::fp8);
  CHECK(plan.rank_order[3] == ParallelAxis::pipeline);
  CHECK(reading.arguments.given ==
        Words{"attention", "cp", "cpu_offload", "ep", "global_batch", "micro_batch", "overlap_grad_reduce",
              "overlap_param_gather", "overlap_pipeline", "overlap_tensor", "pp", "precision", "rank_order",
              "recompute", "schedule", "sequence_parallel", "tp", "virtual_stages", "zero"});
  CHECK(reading.arguments.model.moe == MixtureOfExperts{});
}

TEST_CASE("every argument of a shape is read") {
  const Reading reading =
      read("--num-layers=80 --hidden-size=8192 --num-attention-heads=64 --group-query-attention "
           "--num-query-groups 8 --kv-channels 128 --ffn-hidden-size 28672 --seq-length 4096 "
           "--max-position-embeddings 4096 --swiglu --untie-embeddings-and-output-weights "
           "--tokenizer-type Llama2Tokenizer --position-embedding-type rope "
           "--disable-bias-linear --make-vocab-size-divisible-by 1 --bf16");
  CHECK(reading.findings == "");
  ModelShape llama = *ModelCatalogue::builtin().find("llama2-70b");
  llama.name = reading.arguments.model.name;
  llama.source = "run.sh";
  CHECK(reading.arguments.model == llama);
  CHECK_FALSE(reading.arguments.gpus);
  CHECK(reading.arguments.given == Words{"precision"});
}

TEST_CASE("a mixture's arguments are read") {
  const Reading reading =
      read(kShape + "--num-experts 64 --moe-router-topk 8 --moe-ffn-hidden-size 1024 --moe-layer-freq 2 "
                    "--moe-shared-expert-intermediate-size 2048 --moe-expert-capacity-factor 1.25");
  CHECK(reading.findings == "");
  CHECK(reading.arguments.model.ffn_hidden == 1024);
  CHECK(
      reading.arguments.model.moe ==
      MixtureOfExperts{.experts = 64, .top_k = 8, .capacity_factor = 1.25, .shared_experts = 2, .every = 2});
}

TEST_CASE("what is not given is what Megatron-LM takes") {
  const ModelShape plain = read(kShape).arguments.model;
  CHECK(plain.ffn_hidden == 4 * 12288);
  CHECK(plain.kv_heads == 96);
  CHECK(plain.learned_positions);
  CHECK(plain.tied_embeddings);
  const ModelShape gated = read(kShape + "--swiglu --group-query-attention").arguments.model;
  CHECK(gated.ffn_hidden == 32768); // 8/3 of 12288, in 64s
  CHECK(gated.kv_heads == 1);
  CHECK(read(kShape + "--recompute-activations").arguments.plan.recompute == Recompute::selective);
  CHECK(read(kShape + "--micro-batch-size 4 --nproc-per-node 8").arguments.plan.global_batch == 32);
  CHECK(read(kShape + "--nproc-per-node gpu --nnodes 2").findings == "");
}

TEST_CASE("shell variables are what the same file assigns, wherever") {
  const Reading reading = read("TP=8\nexport PP=\"4\"\nHIDDEN=${H}\nH=4096 # chained\n" + kShape +
                               "--tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} "
                               "--context-parallel-size ${CP:-2} --kv-channels \"$HIDDEN\"");
  CHECK(reading.findings == "");
  CHECK(describe(reading.arguments.plan) == "tp8 cp2 pp4 dp1 mb1");
  CHECK(reading.arguments.model.head_dim == 4096);
}

TEST_CASE("a variable without one literal value is named") {
  const auto finding = [](const std::string& text) { return read(text + "\n" + kShape).findings; };
  CHECK(finding("--kv-channels $KV") ==
        "run.sh:1:1: error: the value of --kv-channels, $KV, is not assigned in this file\n");
  CHECK(finding("--kv-channels ${1}") ==
        "run.sh:1:1: error: the value of --kv-channels, $1, is not assigned in this file\n");
  CHECK(finding("KV=64\nKV=128\n--kv-channels $KV") ==
        "run.sh:3:1: error: the value of --kv-channels, $KV, is ambiguous: it is 64 on line 1 and 128 on "
        "line 2\n");
  CHECK(finding("KV=$KV\n--kv-channels $KV") ==
        "run.sh:2:1: error: the value of --kv-channels, $KV, is not assigned in this file\n");
  CHECK(finding("--kv-channels $((64 * 2))") ==
        "run.sh:1:1: error: the value of --kv-channels, $((64 * 2)), is computed: write it out\n");
  CHECK(finding("KV=$(cat kv)\n--kv-channels $KV") ==
        "run.sh:2:1: error: the value of --kv-channels, $(cat kv), is computed: write it out\n");
}

TEST_CASE("arguments that say nothing about shape or plan are passed over in silence") {
  CHECK(read(kShape + "--lr 1e-4 --min-lr 1e-5 --clip-grad 1.0 --save $OUT --load $OUT --eval-iters 10 "
                      "--num-workers 2 --log-interval 1 --tensorboard-dir x --no-masked-softmax-fusion "
                      "--use-mcore-models --transformer-impl transformer_engine --distributed-backend nccl "
                      "--train-samples 100 --lr-decay-samples 50 --init-method-std 0.006 --adam-beta1 0.9")
            .findings == "");
}

TEST_CASE("an argument that is nearly a known one is warned about") {
  CHECK(read(kShape + "--tensor-parallel-size 8 --sequence_parallel --num-expert 8").findings ==
        "run.sh:1:151: warning: --num-expert is passed over; did you mean '--num-experts'?\n"
        "run.sh:1:131: warning: --sequence_parallel is passed over; did you mean '--sequence-parallel'?\n"
        "run.sh:1:106: warning: --tensor-parallel-size is passed over; did you mean "
        "'--tensor-model-parallel-size'?\n");
}

TEST_CASE("missing arguments are all named") {
  CHECK(read("--swiglu --bf16").findings == "run.sh: error: --num-layers is missing\n"
                                            "run.sh: error: --hidden-size is missing\n"
                                            "run.sh: error: --num-attention-heads is missing\n"
                                            "run.sh: error: --seq-length is missing\n"
                                            "run.sh: error: the size of the vocabulary is missing; add "
                                            "--vocab-size, as in --vocab-size 50257\n");
}

TEST_CASE("wrong values are all reported at their arguments") {
  CHECK(
      read("--num-layers -3\n--hidden-size 1e4\n--num-attention-heads 99999999999999999999\n--seq-length\n"
           "--vocab-size nan\n--position-embedding-type rop\n--bf16 --fp16\n--recompute-granularity all\n"
           "--zero-stage 7\n--moe-expert-capacity-factor x\n--num-experts 0\n")
          .findings ==
      "run.sh:1:1: error: --num-layers must be a whole number from 1 to 1000000000, not '-3'\n"
      "run.sh:2:1: error: --hidden-size must be a whole number from 1 to 1000000000, not '1e4'\n"
      "run.sh:3:1: error: --num-attention-heads must be a whole number from 1 to 1000000000, not "
      "'99999999999999999999'\n"
      "run.sh:4:1: error: --seq-length needs a value\n"
      "run.sh:6:1: error: --position-embedding-type cannot be 'rop'; did you mean 'rope'? (available: rope, "
      "none, alibi, relative, learned_absolute)\n"
      "run.sh:5:1: error: --vocab-size must be a whole number from 1 to 1000000000, not 'nan'\n"
      "run.sh:11:1: error: --num-experts must be a whole number from 1 to 1000000000, not '0'\n"
      "run.sh:8:1: error: --recompute-granularity cannot be 'all'; did you mean 'full'? (available: full, "
      "selective)\n"
      "run.sh:9:1: error: --zero-stage must be between 0 and 3, not 7\n"
      "run.sh:7:8: error: --fp16 and --bf16 exclude each other\n");
}

TEST_CASE("an argument given twice must say the same") {
  CHECK(read(kShape + "--bf16 --num-layers 96").findings == "");
  CHECK(read(kShape + "\n--num-layers 95").findings ==
        "run.sh:2:1: error: --num-layers is given as '96' and as '95'\n");
}

TEST_CASE("virtual stages must divide the layers of a stage") {
  CHECK(
      read(kShape + "\n--pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 5")
          .findings ==
      "run.sh:2:34: error: 96 layers are not divisible by pipeline-parallel degree 8 x 5 layers of a virtual "
      "stage\n");
  const Reading one =
      read(kShape + "--pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 12");
  CHECK(one.arguments.plan.virtual_stages == 1);
  CHECK(one.arguments.plan.schedule == pipeline::ScheduleKind::one_f_one_b);
}

TEST_CASE("text without arguments gives one error") {
  for (const char* text : {"", "\n\n", "<!DOCTYPE html>\n<html><p>don't</p></html>", "{\"n_layer\": 2}",
                           "\x01\xff\xfe", "--", "-- --- --1", "num_layers: 96"}) {
    CAPTURE(text);
    CHECK(read(text).findings == "run.sh: error: there is no argument of Megatron-LM in this; --num-layers, "
                                 "--hidden-size and others were expected\n");
  }
}

TEST_CASE("long lines of anything are read in time") {
  for (const std::string& piece :
       {std::string("$("), std::string("\"'"), std::string("--x1 "), std::string("A=$A "), std::string("${"),
        std::string("\\\n"), std::string("\"--a ")}) {
    std::string text;
    while (text.size() < 200'000)
      text += piece;
    CHECK_FALSE(read(text).findings.empty());
  }
  std::string many;
  for (int i = 0; i < 20'000; ++i)
    many += "--num-layer" + std::to_string(i) + " ";
  CHECK_FALSE(read(many).findings.empty());
}
