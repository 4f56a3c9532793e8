// SPDX-License-Identifier: MIT
#include "app/memory_advice.hpp"
#include "app/plan_flags.hpp"
#include "platforms/catalogue.hpp"
#include "tests/app/iteration_rows.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using vtrain_test::contains;

namespace {

const NodeType& node() {
  static const Catalogue catalogue = Catalogue::builtin();
  return *catalogue.node("dgx-a100-80g");
}

std::string advice(const char* model, const ParallelPlan& plan, std::optional<std::int64_t> gpus = {}) {
  return memory_advice(*ModelCatalogue::builtin().find(model), plan, node(), gpus);
}

} // namespace

TEST_CASE("a change of a plan is written as the flags that make it") {
  ParallelPlan from;
  ParallelPlan to = from;
  CHECK(flags_between(from, to).empty());
  to.tensor = 8;
  to.sequence_parallel = true;
  to.recompute = Recompute::full;
  to.stage_layers = {3, 4};
  CHECK(flags_between(from, to) == "--tp 8 --sequence-parallel --stage-layers 3,4 --recompute full");
  CHECK(flags_between(to, from) == "--tp 1 --sequence-parallel=false (no --stage-layers) --recompute none");
}

TEST_CASE("a plan with too many activations is told to keep fewer") {
  ParallelPlan plan;
  plan.tensor = 8;
  plan.data = 4;
  plan.micro_batch = 16;
  plan.global_batch = 256;
  const std::string text = advice("gpt3-13b", plan);
  CHECK(contains(text, "--recompute full"));
  CHECK(contains(text, "would need"));
  CHECK(contains(text, "GiB"));
}

TEST_CASE("a plan that one change does not save is told several") {
  ParallelPlan plan;
  plan.data = 64;
  plan.global_batch = 64;
  const std::string text = advice("gpt3-175b", plan);
  CHECK(contains(text, "--recompute full"));
  CHECK(contains(text, "--zero 3 would need"));
}

TEST_CASE("a model that no plan fits on so few GPUs gets no advice") {
  ParallelPlan plan;
  plan.tensor = 8;
  plan.global_batch = 8;
  CHECK(advice("mt-nlg-530b", plan, 8).empty());
}

TEST_CASE("sizes are shown in GiB") {
  CHECK(gibibytes(Bytes(1073741824.0 * 79.1)) == "79.1 GiB");
}
