// SPDX-License-Identifier: MIT
#include "tests/support/shared_data.hpp"
#include "vtrain_core/calibration/fit.hpp"
#include "vtrain_core/calibration/measured_rows.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace vtrain;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A row that is well.
const Fields kGood{{"id", "r1"},
                   {"gpu", "A100-SXM-80GB"},
                   {"gpus", "64"},
                   {"gpus_per_node", "8"},
                   {"node_network_gbps", "800"},
                   {"tensor_parallel", "2"},
                   {"pipeline_parallel", "4"},
                   {"data_parallel", "8"},
                   {"global_batch", "512"},
                   {"micro_batch", "4"},
                   {"sequence_length", "2048"},
                   {"hidden", "3072"},
                   {"heads", "32"},
                   {"layers", "30"},
                   {"vocab", "50257"},
                   {"iteration_time_s", "3.5"}};

/// The row with some fields changed or added.
Fields with(const Fields& changes) {
  Fields out = kGood;
  for (const auto& [name, value] : changes) {
    bool found = false;
    for (auto& field : out)
      if (field.first == name) {
        field.second = value;
        found = true;
      }
    if (!found)
      out.emplace_back(name, value);
  }
  return out;
}

std::string csv(const std::vector<Fields>& rows) {
  std::string text;
  for (const auto& [name, value] : rows.front())
    text += (text.empty() ? "" : ",") + name;
  for (const Fields& row : rows) {
    text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "" : ",") + row[i].second;
  }
  return text + "\n";
}

MeasuredRows read(const std::string& text, Diagnostics& diagnostics, bool time_required = true) {
  static const Catalogue catalogue = Catalogue::builtin();
  static const std::vector<SoftwareStack> stacks = builtin_stacks();
  return read_measured_rows(CsvTable::parse(text, "rows.csv", diagnostics), catalogue, stacks, time_required,
                            diagnostics);
}

MeasuredRow only_row(const Fields& changes, bool time_required = true) {
  Diagnostics diagnostics;
  MeasuredRows rows = read(csv({with(changes)}), diagnostics, time_required);
  CHECK(diagnostics.kept().empty());
  REQUIRE(rows.rows.size() == 1);
  return std::move(rows.rows.front());
}

/// The warning about a row that is left out, beside one that is kept.
std::string warning(const Fields& changes) {
  Diagnostics diagnostics;
  std::vector<Fields> both{with(changes), with({})};
  for (std::size_t i = both[1].size(); i < both[0].size(); ++i)
    both[1].emplace_back(both[0][i].first, "");
  const MeasuredRows rows = read(csv(both), diagnostics);
  CHECK(rows.rows.size() == 1);
  CHECK(rows.skipped == 1);
  CHECK(diagnostics.warning_count() == 1);
  CHECK(diagnostics.error_count() == 0);
  return diagnostics.kept().empty() ? "" : to_string(diagnostics.kept().front());
}

bool says(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("a row is a job: node, model, plan and time") {
  const MeasuredRow row = only_row({{"cluster", "Selene"}});
  CHECK(row.id == "r1");
  CHECK(row.software_stack == "megatron-lm");
  CHECK(row.cluster == "Selene");
  CHECK(row.node.gpu.name == "A100-SXM-80GB");
  CHECK(row.node.gpus == GpuCount(8));
  CHECK(row.node.network == BytesPerSecond(100e9));
  CHECK(row.model.kv_heads == 32);
  CHECK(row.model.head_dim == 96);
  CHECK(row.model.ffn_hidden == 4 * 3072);
  CHECK(row.plan.gpus() == 64);
  CHECK(row.plan.micro_batches() == 16);
  CHECK(row.plan.recompute == Recompute::none);
  CHECK(row.plan.attention == AttentionKernel::plain);
  CHECK(row.plan.precision == Precision::bf16);
  CHECK(row.time == Seconds(3.5));
  CHECK(row.index == 0);
  CHECK(row.line == 2);
}

TEST_CASE("the columns that may be there are read") {
  const MeasuredRow row = only_row({{"software_stack", "nemo-megatron-bridge"},
                                    {"gpu", "H100"},
                                    {"virtual_stages", "2"},
                                    {"context_parallel", "1"},
                                    {"kv_heads", "8"},
                                    {"ffn_hidden", "8192"},
                                    {"swiglu", "1"},
                                    {"sequence_parallel", "1"},
                                    {"recompute", "selective"},
                                    {"flash_attention", "1"},
                                    {"zero_stage", "1"},
                                    {"dtype", "fp8"},
                                    {"layers", "32"}});
  CHECK(row.plan.schedule == pipeline::ScheduleKind::interleaved);
  CHECK(row.plan.virtual_stages == 2);
  CHECK(row.model.kv_heads == 8);
  CHECK(row.model.ffn_hidden == 8192);
  CHECK(row.model.gated_ffn);
  CHECK_FALSE(row.model.tied_embeddings); // the LLaMA family
  CHECK(row.plan.sequence_parallel);
  CHECK(row.plan.recompute == Recompute::selective);
  CHECK(row.plan.attention == AttentionKernel::flash);
  CHECK(row.plan.zero == 1);
  CHECK(row.plan.precision == Precision::fp8);
  CHECK(row.plan.overlap_tensor); // what the stack does by itself
  CHECK(row.plan.overlap_grad_reduce);
}

TEST_CASE("a GPU goes by any of its names") {
  for (const char* name : {"H100-SXM-80GB", "H100", "h100-sxm"})
    CHECK(only_row({{"gpu", name}}).node.gpu.name == "H100-SXM");
  CHECK(only_row({{"gpu", "A100"}}).node.gpu.name == "A100-SXM-80GB");
}

TEST_CASE("a row without a time is for prediction alone") {
  CHECK_FALSE(only_row({{"iteration_time_s", ""}}, false).time);
  CHECK(says(warning({{"iteration_time_s", ""}}), "iteration_time_s must be a number above 0, not ''"));
  Fields no_column = kGood;
  no_column.pop_back();
  Diagnostics diagnostics;
  CHECK(read(csv({no_column}), diagnostics, false).rows.size() == 1);
  CHECK(diagnostics.kept().empty());
  // A time that is there must be one.
  const MeasuredRows rows = read(csv({with({{"iteration_time_s", "fast"}})}), diagnostics, false);
  CHECK(rows.skipped == 1);
}

TEST_CASE("a field that cannot be has its row left out, counted and named") {
  CHECK(warning({{"layers", "many"}}) ==
        "rows.csv:2:52: warning: row 'r1' skipped: layers must be a whole number from 1, not 'many'");
  for (const char* column :
       {"gpus", "gpus_per_node", "tensor_parallel", "pipeline_parallel", "data_parallel", "global_batch",
        "micro_batch", "sequence_length", "hidden", "heads", "layers", "vocab"})
    for (const char* value : {"", "0", "-8", "1.5", "nan", "inf", "2000000000", "99999999999999999999", "x",
                              "0x10", "1e3", "8 8"}) {
      CAPTURE(column);
      CAPTURE(value);
      CHECK(says(warning({{column, value}}), std::string(column) + " must be a whole number from 1"));
    }
  for (const char* column :
       {"context_parallel", "expert_parallel", "virtual_stages", "kv_heads", "ffn_hidden", "head_dim",
        "swiglu", "sequence_parallel", "flash_attention", "zero_stage"})
    for (const char* value : {"-1", "yes", "nan", "1e400"}) {
      CAPTURE(column);
      CAPTURE(value);
      CHECK(says(warning({{column, value}}), std::string(column) + " must be a whole number from"));
    }
  for (const char* column : {"node_network_gbps", "iteration_time_s"}) {
    for (const char* value : {"", "0", "-1", "nan", "inf", "-inf", "fast", "1e400", "3,5 s"})
      CHECK(says(warning({{column, std::string("\"") + value + "\""}}),
                 std::string(column) + " must be a number above 0"));
    for (const char* value : {"1e-300", "1e-12", "1e12", "1e300"})
      CHECK(says(warning({{column, value}}), std::string(column) + " cannot be '"));
  }
  CHECK(says(warning({{"gpu", "A1000"}}), "the catalogue has no GPU 'A1000'"));
  CHECK(says(warning({{"gpu", ""}}), "the catalogue has no GPU ''"));
  CHECK(says(warning({{"recompute", "some"}}), "recompute cannot be 'some'"));
  CHECK(says(warning({{"dtype", "fp64"}}), "dtype cannot be 'fp64'"));
}

TEST_CASE("a row whose plan is impossible is left out, and the message says why") {
  CHECK(says(warning({{"gpus", "128"}}), "the plan uses 64 GPUs, the row says 128"));
  CHECK(says(warning({{"heads", "31"}}), "hidden size 3072 cannot be divided into 31 heads"));
  CHECK(says(warning({{"tensor_parallel", "64"}, {"gpus", "2048"}}), "32 heads cannot be split"));
  CHECK(says(warning({{"pipeline_parallel", "32"}, {"gpus", "512"}}), "30 layers are too few"));
  CHECK(says(warning({{"micro_batch", "3"}}), "global batch 512 is not divisible"));
  CHECK(says(warning({{"dtype", "fp8"}}), "A100-SXM-80GB has no fp8 tensor cores"));
  CHECK(says(warning({{"zero_stage", "4"}}), "the ZeRO stage must be between 0 and 3"));
  CHECK(says(warning({{"layers", "1000000000"}}), "layers must be at most 10000"));
  CHECK(says(warning({{"kv_heads", "5"}}), "32 heads cannot share 5 key-value heads"));
  CHECK(says(warning({{"expert_parallel", "2"}}), "needs a mixture of experts"));
}

TEST_CASE("all missing columns are reported at once") {
  Diagnostics diagnostics;
  const MeasuredRows rows =
      read("id,gpu,gpus,gpus_per_node,tensor_paralel,iteration_time_s\na,A100,8,8,8,1\n", diagnostics);
  CHECK(rows.rows.empty());
  CHECK(diagnostics.error_count() == 11);
  std::string all;
  for (const Diagnostic& each : diagnostics.kept())
    all += to_string(each) + "\n";
  CHECK(says(all, "column 'tensor_parallel' is missing; did you mean 'tensor_paralel'?"));
  CHECK(says(all, "column 'vocab' is missing"));
  Diagnostics time;
  Fields no_time = kGood;
  no_time.pop_back();
  CHECK(read(csv({no_time}), time, true).rows.empty());
  CHECK(time.error_count() == 1);
}

TEST_CASE("a byte-order mark, CRLF, quotes and blank lines are read through") {
  std::string text = csv({with({}), with({{"id", "\"a, b\""}})});
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
    text.insert(at, "\r");
  Diagnostics diagnostics;
  const MeasuredRows rows = read("\xEF\xBB\xBF" + text + "\r\n\r\n", diagnostics);
  CHECK(diagnostics.kept().empty());
  REQUIRE(rows.rows.size() == 2);
  CHECK(rows.rows[1].id == "a, b");
  CHECK(rows.rows[1].index == 1);
  CHECK(rows.rows[1].line == 3);
}

TEST_CASE("rows with too many or too few fields count as left out") {
  Diagnostics diagnostics;
  const std::string text = csv({with({})});
  const MeasuredRows rows = read(text + "short,A100\n" + text.substr(text.find('\n') + 1), diagnostics);
  CHECK(rows.rows.size() == 2);
  CHECK(rows.skipped == 1);
  CHECK(rows.rows[1].line == 4);
}

TEST_CASE("what is left out keeps its number, so that folds stay the same") {
  Diagnostics diagnostics;
  const MeasuredRows rows = read(csv({with({}), with({{"layers", "0"}}), with({{"id", "r3"}})}), diagnostics);
  REQUIRE(rows.rows.size() == 2);
  CHECK(rows.rows[1].index == 2);
}

TEST_CASE("the digest of rows changes with a row, its time and their order") {
  const auto digest = [](const std::vector<Fields>& rows) {
    Diagnostics diagnostics;
    return digest_of(read(csv(rows), diagnostics).rows);
  };
  const std::string one = digest({with({})});
  CHECK(one.size() == 64);
  CHECK(digest({with({})}) == one);
  CHECK(digest({with({{"iteration_time_s", "3.50000001"}})}) != one);
  CHECK(digest({with({{"id", "r2"}})}) != one);
  CHECK(digest({with({{"gpu", "H100"}})}) != one);
  CHECK(digest({with({}), with({{"id", "r2"}})}) != digest({with({{"id", "r2"}}), with({})}));
}

TEST_CASE("huge numbers that a plan may have are predicted at once, or refused") {
  // 10^9 micro-batches; 10,000 stages; 10^9 ranks; a sequence of 10^9 tokens over 2.5 x 10^8 ranks.
  const std::vector<Fields> huge{with({{"global_batch", "1000000000"},
                                       {"micro_batch", "1"},
                                       {"data_parallel", "1"},
                                       {"gpus", "8"},
                                       {"context_parallel", "1"},
                                       {"flash_attention", "1"},
                                       {"gpus_per_node", "8"}}),
                                 with({{"pipeline_parallel", "1000"},
                                       {"layers", "1000"},
                                       {"global_batch", "100000000"},
                                       {"micro_batch", "1"},
                                       {"data_parallel", "1"},
                                       {"gpus", "2000"},
                                       {"context_parallel", "1"},
                                       {"flash_attention", "1"}}),
                                 with({{"tensor_parallel", "1"},
                                       {"pipeline_parallel", "1"},
                                       {"data_parallel", "1000000000"},
                                       {"global_batch", "1000000000"},
                                       {"micro_batch", "1"},
                                       {"gpus", "1000000000"},
                                       {"context_parallel", "1"},
                                       {"flash_attention", "1"},
                                       {"gpus_per_node", "1000000000"}}),
                                 with({{"tensor_parallel", "1"},
                                       {"pipeline_parallel", "1"},
                                       {"data_parallel", "1"},
                                       {"global_batch", "1"},
                                       {"micro_batch", "1"},
                                       {"gpus", "250000000"},
                                       {"context_parallel", "250000000"},
                                       {"flash_attention", "1"},
                                       {"sequence_length", "1000000000"},
                                       {"gpus_per_node", "1000000000"}})};
  const SoftwareStack stack = builtin_stacks().front();
  for (Fields row : huge) {
    Diagnostics diagnostics;
    const MeasuredRows rows = read(csv({row}), diagnostics);
    for (const Diagnostic& each : diagnostics.kept())
      FAIL_CHECK(to_string(each));
    REQUIRE(rows.rows.size() == 1);
    const Seconds time = predict(rows.rows.front(), ConstantValues{}, stack);
    CHECK(time > Seconds(0));
    CHECK(time < Seconds(1e12));
  }
  const Fields most{{"global_batch", "1000000000"}, {"micro_batch", "1"}};
  const auto refused = [&](Fields changes) {
    changes.insert(changes.end(), most.begin(), most.end());
    return warning(changes);
  };
  CHECK(says(refused({{"data_parallel", "1"}, {"virtual_stages", "7"}, {"layers", "28"}}),
             "a stage has at most 2147483647 forwards an iteration"));
  CHECK(says(refused({{"data_parallel", "1000000000"}, {"pipeline_parallel", "30"}}),
             "needs more than 2147483647 GPUs"));
}

TEST_CASE("the shared tables have no row that cannot be read") {
  for (const auto& [file, rows] :
       {std::pair{"megatron_a100_published.csv", 18}, std::pair{"vtrain_multi_calibration.csv", 55},
        std::pair{"bloom_tuning_calibration.csv", 20}, std::pair{"mpt_fsdp_calibration.csv", 108},
        std::pair{"h100_fp8_calibration.csv", 9}}) {
    const auto path = test::shared_data(std::string("data/iteration_time/") + file);
    if (!path)
      return;
    Diagnostics diagnostics;
    const CsvTable table = CsvTable::read(*path, diagnostics);
    const MeasuredRows read =
        read_measured_rows(table, Catalogue::builtin(), builtin_stacks(), true, diagnostics);
    CAPTURE(file);
    CHECK(diagnostics.kept().empty());
    CHECK(read.skipped == 0);
    CHECK(read.rows.size() == static_cast<std::size_t>(rows));
  }
}
