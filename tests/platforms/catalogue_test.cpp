// SPDX-License-Identifier: MIT
#include "platforms/catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace vtrain;

namespace {
template <class T> std::vector<std::string> names_of(const std::vector<T>& things) {
  std::vector<std::string> names;
  for (const T& thing : things)
    names.push_back(thing.name);
  return names;
}
} // namespace

TEST_CASE("the catalogue has the GPUs of the data sheets") {
  const Catalogue catalogue = Catalogue::builtin();
  CHECK(names_of(catalogue.gpus()) == std::vector<std::string>{"A100-SXM-80GB", "A100-SXM-40GB", "H100-SXM",
                                                               "H200-SXM", "B200-SXM", "V100-SXM2", "MI300X",
                                                               "GB200", "T4"});
  const Gpu* a100 = catalogue.gpu("A100-SXM-80GB");
  REQUIRE(a100 != nullptr);
  CHECK(a100->peak_fp16.base() == 312e12);
  CHECK(a100->memory.base() == 80e9);
  CHECK(a100->memory_bandwidth.base() == doctest::Approx(2.039e12));
  CHECK(a100->nvlink.base() == 300e9);
  CHECK(a100->tdp.base() == 400);
}

TEST_CASE("every figure of the catalogue is plausible") {
  const Catalogue catalogue = Catalogue::builtin();
  for (const Gpu& gpu : catalogue.gpus()) {
    CAPTURE(gpu.name);
    CHECK(gpu.peak_fp16.base() >= 60e12);
    CHECK(gpu.peak_fp16.base() <= 3e15);
    CHECK(gpu.memory.base() >= 16e9);
    CHECK(gpu.memory.base() <= 300e9);
    CHECK(gpu.memory_bandwidth.base() >= 0.3e12);
    CHECK(gpu.memory_bandwidth.base() <= 10e12);
    CHECK(gpu.nvlink.base() >= 16e9);
    CHECK(gpu.nvlink.base() <= 1e12);
    CHECK(gpu.tdp.base() >= 70);
    CHECK(gpu.tdp.base() <= 1200);
    CHECK(gpu.multiprocessors >= 40);
    CHECK(gpu.multiprocessors <= 400);
    CHECK(gpu.host_link.base() >= 16e9);
    if (gpu.peak_fp8) // twice the rate of fp16, up to rounding on the data sheets
      CHECK(gpu.peak_fp8->base() / gpu.peak_fp16.base() == doctest::Approx(2.0).epsilon(0.01));
  }
  for (const NodeType& node : catalogue.nodes()) {
    CAPTURE(node.name);
    const double network_per_gpu = node.network.base() / node.gpus.value();
    CHECK(network_per_gpu >= 1.5e9);
    CHECK(network_per_gpu <= 50e9);
    // no source for those prices
    CHECK(node.gpu_price.has_value() == (node.name != "mi300x-8" && node.name != "gb200-nvl72"));
    if (node.gpu_price) {
      CHECK(node.gpu_price->base() * 3600 > 0.5);
      CHECK(node.gpu_price->base() * 3600 < 10.0);
    }
  }
}

TEST_CASE("names of GPUs, nodes and clusters are unique whatever the letter case") {
  const Catalogue catalogue = Catalogue::builtin();
  std::vector<std::string> names = names_of(catalogue.gpus());
  for (const auto& more : {names_of(catalogue.nodes()), names_of(catalogue.clusters())})
    names.insert(names.end(), more.begin(), more.end());
  std::set<std::string> lower;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    CHECK(lower.insert(name).second);
  }
}

TEST_CASE("a GPU is found by name and alias in any letter case") {
  const Catalogue catalogue = Catalogue::builtin();
  REQUIRE(catalogue.gpu("h100-sxm") != nullptr);
  CHECK(catalogue.gpu("h100-sxm")->name == "H100-SXM");
  REQUIRE(catalogue.gpu("v100") != nullptr);
  CHECK(catalogue.gpu("v100")->name == "V100-SXM2");
  CHECK(catalogue.gpu("A100-40GB")->name == "A100-SXM-40GB");
  CHECK(catalogue.gpu("") == nullptr);
  CHECK(catalogue.gpu("A10") == nullptr);
}

TEST_CASE("a name that fits several GPUs means the first") {
  const Catalogue catalogue = Catalogue::builtin();
  CHECK(catalogue.gpu("A100")->name == "A100-SXM-80GB");
  // The other one carries the alias too, so that measurements "on A100" apply to it.
  const auto& aliases = catalogue.gpu("A100-SXM-40GB")->aliases;
  CHECK(std::ranges::find(aliases, "A100") != aliases.end());
}

TEST_CASE("the catalogue has the node types") {
  const Catalogue catalogue = Catalogue::builtin();
  CHECK(names_of(catalogue.nodes()) == std::vector<std::string>{"dgx-a100-80g", "dgx-a100-40g", "dgx-h100",
                                                                "dgx-h200", "dgx-b200", "dgx-v100",
                                                                "mi300x-8", "gb200-nvl72", "t4-4"});
  const NodeType* node = catalogue.node("DGX-A100-80g");
  REQUIRE(node != nullptr);
  CHECK(node->gpu.name == "A100-SXM-80GB");
  CHECK(node->network.base() == 200e9);
  CHECK(node->gpu_price->base() * 3600 == doctest::Approx(2.79));
  CHECK(catalogue.node("dgx") == nullptr);
}

TEST_CASE("the catalogue has families of clusters of 32 to 1024 GPUs") {
  const Catalogue catalogue = Catalogue::builtin();
  for (const std::string family : {"a100", "h100"})
    for (const int gpus : {32, 64, 128, 256, 512, 1024}) {
      const Cluster* cluster = catalogue.cluster(family + "-" + std::to_string(gpus));
      REQUIRE(cluster != nullptr);
      CHECK(cluster->gpus() == GpuCount(gpus));
      CHECK(cluster->nodes == NodeCount(gpus / 8));
      CHECK(cluster->fabric.topology == "fat-tree");
      CHECK(cluster->fabric.oversubscription == 1.0);
    }
  CHECK(catalogue.clusters().size() == 12);
  CHECK(catalogue.cluster("A100-256") != nullptr);
  CHECK(catalogue.cluster("a100-31") == nullptr);
}
