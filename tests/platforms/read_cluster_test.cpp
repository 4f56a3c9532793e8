// SPDX-License-Identifier: MIT
#include "common/file.hpp"
#include "platforms/catalogue.hpp"
#include "tests/common/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace vtrain;

namespace {

const Catalogue& catalogue() {
  static const Catalogue the_catalogue = Catalogue::builtin();
  return the_catalogue;
}

struct Reading {
  Cluster cluster;
  std::string effective; ///< the recorded configuration, as YAML
  std::string errors;    ///< one a line
};

Reading read(const std::string& yaml, const std::filesystem::path& base = ".",
             const std::string& override_text = {}) {
  Diagnostics diagnostics;
  ConfigNode root = parse_yaml(yaml, "e.yaml", diagnostics);
  if (!override_text.empty())
    apply_override(root, override_text, diagnostics);
  ConfigNode effective = ConfigNode::map();
  ConfigReader reader(root, "", diagnostics, effective);
  Reading reading;
  reading.cluster = read_cluster(reader, "cluster", catalogue(), base);
  reader.finish();
  reading.effective = to_yaml(effective);
  for (const Diagnostic& diagnostic : diagnostics.kept())
    reading.errors += to_string(diagnostic) + "\n";
  return reading;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a cluster is named after the catalogue and recorded by its name") {
  const Reading reading = read("cluster: a100-256\n");
  CHECK(reading.errors == "");
  CHECK(reading.cluster.name == "a100-256");
  CHECK(reading.cluster.gpus() == GpuCount(256));
  CHECK(reading.effective == "cluster: a100-256\n");
}

TEST_CASE("an unknown cluster name gets a suggestion") {
  const Reading reading = read("cluster: a100-31\n");
  CHECK(contains(reading.errors, "e.yaml:1:10: error: unknown cluster 'a100-31'; did you mean 'a100-32'?"));
  CHECK(reading.cluster.nodes == NodeCount(1)); // the placeholder
}

TEST_CASE("a node type in place of a cluster is explained") {
  const Reading reading = read("cluster: dgx-h100\n");
  CHECK(contains(reading.errors, "unknown cluster 'dgx-h100'"));
  CHECK(contains(reading.errors, "{nodes: 4, node: dgx-h100}"));
}

TEST_CASE("a cluster that is missing, empty or a list is an error") {
  CHECK(contains(read("name: x\n").errors, "missing key 'cluster'"));
  CHECK(contains(read("cluster:\n").errors, "missing key 'cluster'"));
  CHECK(contains(read("cluster: [a100-32]\n").errors, "cluster must be a name, a path or a map"));
}

TEST_CASE("an inline cluster takes its node from the catalogue") {
  const Reading reading = read("cluster: {nodes: 32, node: dgx-a100-80g}\n");
  CHECK(reading.errors == "");
  CHECK(reading.cluster.name == "inline");
  CHECK(reading.cluster.gpus() == GpuCount(256));
  CHECK(reading.cluster.node.name == "dgx-a100-80g");
  CHECK(reading.cluster.fabric.topology == "fat-tree");
  CHECK(reading.cluster.node.gpu_price->base() * 3600 == doctest::Approx(2.79));
  CHECK(contains(reading.effective, "topology: fat-tree"));
  CHECK(contains(reading.effective, "oversubscription: 1"));
}

TEST_CASE("an inline node without a network gets the catalogue's share for each GPU") {
  const Reading reading = read("cluster: {nodes: 3, node: {gpus: 4, gpu: V100-SXM2}}\n");
  CHECK(reading.errors == "");
  CHECK(reading.cluster.gpus() == GpuCount(12));
  CHECK(reading.cluster.node.name == "");
  CHECK(reading.cluster.node.network.base() == 25e9); // half of a DGX-1
  CHECK(reading.cluster.node.gpu_price->base() * 3600 == doctest::Approx(0.79));
  CHECK(contains(reading.effective, "network: 25GB/s"));
}

TEST_CASE("what is recorded of an inline cluster reads back as the same cluster") {
  const Reading first =
      read("cluster: {nodes: 3, node: {gpus: 3, gpu: H100, network: 100Gbps}, price: 2.50USD/h, "
           "fabric: {topology: fat-tree, oversubscription: 4}}\n");
  CHECK(first.errors == "");
  const Reading second = read(first.effective);
  CHECK(second.errors == "");
  CHECK(second.effective == first.effective);
  CHECK(second.cluster.node.network == first.cluster.node.network);
  CHECK(second.cluster.fabric.oversubscription == 4.0);
  CHECK(second.cluster.node.gpu_price->base() * 3600 == doctest::Approx(2.5));
}

TEST_CASE("a GPU that the catalogue lacks can be given by its figures") {
  const Reading reading =
      read("cluster:\n"
           "  nodes: 2\n"
           "  node:\n"
           "    gpus: 4\n"
           "    network: 10Gbps\n"
           "    gpu: {name: L4, peak_fp16: 65TFLOPS, memory: 16GB, memory_bandwidth: 320GB/s, "
           "nvlink: 16GB/s, tdp: 70W}\n");
  CHECK(reading.errors == "");
  CHECK(reading.cluster.node.gpu.name == "L4");
  CHECK(reading.cluster.node.gpu.peak_fp16.base() == 65e12);
  CHECK_FALSE(reading.cluster.node.gpu_price);
}

TEST_CASE("a GPU of one's own needs a network") {
  const Reading reading =
      read("cluster: {nodes: 2, node: {gpus: 4, gpu: {name: L4, peak_fp16: 65TFLOPS, memory: "
           "16GB, memory_bandwidth: 320GB/s, nvlink: 16GB/s, tdp: 70W}}}\n");
  CHECK(contains(reading.errors, "missing key 'network' and the catalogue has no node with this GPU"));
}

TEST_CASE("wrong values of a cluster are all reported at their places") {
  const Reading reading = read("cluster:\n"
                               "  nodes: 0\n"
                               "  node: {gpus: -1, gpu: A100-SXM-8GB, network: 0GB/s}\n"
                               "  price: 2.50\n"
                               "  fabric: {topology: torus, oversubscription: 0.5}\n"
                               "  fabrik: {}\n");
  CHECK(contains(reading.errors, "e.yaml:2:10: error: 'cluster.nodes' must be between 1 and 1000000, not 0"));
  CHECK(contains(reading.errors, "e.yaml:3:16: error: 'node.gpus' must be between 1 and 1024, not -1"));
  CHECK(contains(reading.errors,
                 "e.yaml:3:25: error: unknown GPU 'A100-SXM-8GB'; did you mean 'A100-SXM-80GB'?"));
  CHECK(contains(reading.errors, "e.yaml:3:48: error: network must be greater than 0"));
  CHECK(contains(reading.errors, "e.yaml:4:10: error: 'cluster.price' needs a unit"));
  CHECK(contains(reading.errors, "e.yaml:5:22: error: 'cluster.fabric.topology' cannot be 'torus'"));
  CHECK(contains(reading.errors, "'cluster.fabric.oversubscription' must be between 1 and 1000, not 0.5"));
  CHECK(contains(reading.errors,
                 "e.yaml:6:3: error: unknown key 'fabrik' in 'cluster'; did you mean 'fabric'?"));
}

TEST_CASE("a cluster without nodes or node, and a node without GPUs, are errors") {
  const std::string errors = read("cluster: {fabric: {topology: star}}\n").errors;
  CHECK(contains(errors, "missing key 'nodes'"));
  CHECK(contains(errors, "missing key 'node'"));
  const std::string node_errors = read("cluster: {nodes: 1, node: {}}\n").errors;
  CHECK(contains(node_errors, "missing key 'gpus'"));
  CHECK(contains(node_errors, "missing key 'gpu'"));
  CHECK(contains(read("cluster: {nodes: 1, node: [1]}\n").errors, "node must be a name or a map"));
  CHECK(contains(read("cluster: {nodes: 1, node: {gpus: 1, gpu: [1]}}\n").errors,
                 "gpu must be a name or a map"));
  CHECK(contains(read("cluster: {nodes: 1, node: dgx-h10}\n").errors,
                 "unknown node type 'dgx-h10'; did you mean 'dgx-h100'?"));
}

TEST_CASE("a star has nothing to oversubscribe") {
  CHECK(read("cluster: {nodes: 2, node: dgx-h100, fabric: {topology: star}}\n").errors == "");
  CHECK(contains(
      read("cluster: {nodes: 2, node: dgx-h100, fabric: {topology: star, oversubscription: 2}}\n").errors,
      "a star is one switch and has no uplinks to oversubscribe"));
}

TEST_CASE("a cluster can stand in a file of its own, relative to the experiment") {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "small.yaml", "nodes: 2\nnode: dgx-h100\n");
  const Reading reading = read("cluster: small.yaml\n", folder.path());
  CHECK(reading.errors == "");
  CHECK(reading.cluster.name == "small");
  CHECK(reading.cluster.gpus() == GpuCount(16));
  CHECK(contains(reading.effective, "node: dgx-h100")); // the map, so that the record stands alone
}

TEST_CASE("errors in a cluster's file name that file, and a missing file is an error") {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "bad.yaml", "nodes: many\nnode: dgx-h100\n");
  CHECK(contains(read("cluster: bad.yaml\n", folder.path()).errors, "bad.yaml:1:8: error: 'nodes' must be"));
  CHECK(contains(read("cluster: ./none.yaml\n", folder.path()).errors,
                 "e.yaml:1:10: error: there is no cluster file"));
}

TEST_CASE("a cluster's file given on the command line is relative to the current folder") {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "small.yaml", "nodes: 2\nnode: dgx-h100\n");
  const std::filesystem::path relative = std::filesystem::relative(folder / "small.yaml");
  const Reading reading = read("cluster: a100-32\n", "/nowhere", "cluster=" + relative.string());
  CHECK(reading.errors == "");
  CHECK(reading.cluster.gpus() == GpuCount(16));
}
