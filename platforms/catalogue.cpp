// SPDX-License-Identifier: MIT
#include "platforms/catalogue.hpp"

#include "common/assert.hpp"
#include "common/letter_case.hpp"
#include "common/number.hpp"
#include "common/suggest.hpp"
#include "platforms/catalogue_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace vtrain {
namespace {

constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::int64_t kMaxGpusPerNode = 1024; // with kMaxNodes the product fits the 32 bits of a GpuCount

template <class T> const T* find_by_name(const std::vector<T>& things, std::string_view name) {
  const auto at = std::ranges::find_if(things, [&](const T& t) { return equal_ignoring_case(t.name, name); });
  return at == things.end() ? nullptr : &*at;
}

template <class T> std::vector<std::string> names_of(const std::vector<T>& things) {
  std::vector<std::string> names;
  names.reserve(things.size());
  for (const T& thing : things)
    names.push_back(thing.name);
  return names;
}

/// Reads a required quantity and reports one that is 0: a machine without bandwidth or memory makes every
/// time infinite.
template <class T>
T positive(ConfigReader& reader, std::string_view key, T (ConfigReader::*read)(std::string_view)) {
  const std::size_t errors_before = reader.diagnostics().error_count();
  const T value = (reader.*read)(key);
  if (reader.diagnostics().error_count() == errors_before && !(value > T{0.0}))
    reader.error(key, fmt::format("{} must be greater than 0", key));
  return value;
}

Gpu read_gpu(ConfigReader& reader, std::string name) {
  Gpu gpu;
  gpu.name = std::move(name);
  for (const ConfigNode& alias : reader.sequence("aliases"))
    gpu.aliases.push_back(alias.scalar);
  gpu.peak_fp16 = positive(reader, "peak_fp16", &ConfigReader::required_flops_per_second);
  if (reader.has("peak_fp8"))
    gpu.peak_fp8 = positive(reader, "peak_fp8", &ConfigReader::required_flops_per_second);
  gpu.bf16 = reader.boolean("bf16", true);
  gpu.multiprocessors =
      static_cast<std::int32_t>(reader.integer("multiprocessors", gpu.multiprocessors, 1, 100'000));
  gpu.memory = positive(reader, "memory", &ConfigReader::required_bytes);
  gpu.memory_bandwidth = positive(reader, "memory_bandwidth", &ConfigReader::required_bytes_per_second);
  gpu.nvlink = positive(reader, "nvlink", &ConfigReader::required_bytes_per_second);
  if (reader.has("host_link"))
    gpu.host_link = positive(reader, "host_link", &ConfigReader::required_bytes_per_second);
  gpu.tdp = positive(reader, "tdp", &ConfigReader::required_watts);
  reader.finish();
  return gpu;
}

/// The value of `gpu`: a catalogue name or a map with a GPU's figures.
std::optional<Gpu> read_gpu_of_node(ConfigReader& reader, const Catalogue& catalogue) {
  const ConfigNode* value = reader.raw("gpu");
  if (value == nullptr) {
    reader.error("gpu", "missing key 'gpu'", "name a GPU of the catalogue, such as A100-SXM-80GB");
    return std::nullopt;
  }
  if (value->kind == ConfigNode::Kind::map) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader inner(*value, "gpu", reader.diagnostics(), effective);
    std::string name = inner.required_text("name");
    Gpu gpu = read_gpu(inner, std::move(name));
    reader.record("gpu", std::move(effective));
    return gpu;
  }
  if (value->kind != ConfigNode::Kind::scalar) {
    reader.error("gpu", "gpu must be a name or a map");
    return std::nullopt;
  }
  if (const Gpu* gpu = catalogue.gpu(value->scalar))
    return *gpu;
  reader.error("gpu", fmt::format("unknown GPU '{}'", value->scalar),
               suggest(value->scalar, names_of(catalogue.gpus())));
  return std::nullopt;
}

/// What a node gets that does not say: as much network per GPU, and the price, of the catalogue's first
/// node with the same GPU.
const NodeType* reference_node(const Catalogue& catalogue, const Gpu& gpu) {
  const auto& nodes = catalogue.nodes();
  const auto at = std::ranges::find_if(nodes, [&](const NodeType& n) { return n.gpu.name == gpu.name; });
  return at == nodes.end() ? nullptr : &*at;
}

std::optional<UsdPerSecond> read_price(ConfigReader& reader, std::optional<UsdPerSecond> fallback) {
  if (reader.raw("price") == nullptr)
    return fallback;
  return reader.required_usd_per_second("price");
}

/// A node type's map: gpus, gpu, and optionally network and price.
std::optional<NodeType> read_node_map(ConfigReader& reader, std::string name, const Catalogue& catalogue) {
  NodeType node;
  node.name = std::move(name);
  if (!reader.has("gpus"))
    reader.error("gpus", "missing key 'gpus'", "the number of GPUs of one node, such as 8");
  node.gpus = GpuCount(static_cast<std::int32_t>(reader.integer("gpus", 1, 1, kMaxGpusPerNode)));
  const std::optional<Gpu> gpu = read_gpu_of_node(reader, catalogue);
  const NodeType* reference = gpu ? reference_node(catalogue, *gpu) : nullptr;
  if (reader.raw("network") != nullptr) {
    node.network = positive(reader, "network", &ConfigReader::required_bytes_per_second);
  } else if (reference != nullptr) {
    node.network = reference->network * (static_cast<double>(node.gpus.value()) / reference->gpus.value());
    reader.record("network", ConfigNode::text(format_number(node.network.base() / 1e9) + "GB/s"));
  } else if (gpu) {
    reader.error("network", "missing key 'network' and the catalogue has no node with this GPU",
                 "give the node's bandwidth in one direction, such as network: 400Gbps");
  }
  node.gpu_price = read_price(reader, reference != nullptr ? reference->gpu_price : std::nullopt);
  reader.finish();
  if (!gpu)
    return std::nullopt;
  node.gpu = *gpu;
  return node;
}

/// The value of `node`: a catalogue name or a node's map.
std::optional<NodeType> read_node_of_cluster(ConfigReader& reader, const Catalogue& catalogue) {
  const ConfigNode* value = reader.raw("node");
  if (value == nullptr) {
    reader.error("node", "missing key 'node'", "name a node type of the catalogue, such as dgx-a100-80g");
    return std::nullopt;
  }
  if (value->kind == ConfigNode::Kind::map) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader inner(*value, "node", reader.diagnostics(), effective);
    std::optional<NodeType> node = read_node_map(inner, "", catalogue);
    reader.record("node", std::move(effective));
    return node;
  }
  if (value->kind != ConfigNode::Kind::scalar) {
    reader.error("node", "node must be a name or a map");
    return std::nullopt;
  }
  if (const NodeType* node = catalogue.node(value->scalar))
    return *node;
  reader.error("node", fmt::format("unknown node type '{}'", value->scalar),
               suggest(value->scalar, names_of(catalogue.nodes())));
  return std::nullopt;
}

Fabric read_fabric(ConfigReader reader) {
  Fabric fabric;
  fabric.topology = reader.choice("topology", {"fat-tree", "star"}, fabric.topology);
  fabric.oversubscription = reader.number("oversubscription", fabric.oversubscription, 1.0, 1000.0);
  if (fabric.topology == "star" && fabric.oversubscription > 1.0)
    reader.error("oversubscription", "a star is one switch and has no uplinks to oversubscribe",
                 "leave oversubscription out or use topology: fat-tree");
  reader.finish();
  return fabric;
}

/// A cluster's map: nodes, node, and optionally fabric and price. None when something is wrong.
std::optional<Cluster> read_cluster_map(ConfigReader& reader, std::string name, const Catalogue& catalogue) {
  Cluster cluster;
  cluster.name = std::move(name);
  if (!reader.has("nodes"))
    reader.error("nodes", "missing key 'nodes'", "the number of nodes, such as 32");
  cluster.nodes = NodeCount(static_cast<std::int32_t>(reader.integer("nodes", 1, 1, kMaxNodes)));
  const std::optional<NodeType> node = read_node_of_cluster(reader, catalogue);
  cluster.fabric = read_fabric(reader.section("fabric"));
  const std::optional<UsdPerSecond> price = read_price(reader, node ? node->gpu_price : std::nullopt);
  reader.finish();
  if (!node)
    return std::nullopt;
  cluster.node = *node;
  cluster.node.gpu_price = price;
  return cluster;
}

/// The maps of a family in clusters.yaml: one cluster for each GPU count of its list.
void read_family(ConfigReader& reader, const std::string& name, const Catalogue& catalogue,
                 std::vector<Cluster>& out) {
  const std::optional<NodeType> node = read_node_of_cluster(reader, catalogue);
  const Fabric fabric = read_fabric(reader.section("fabric"));
  for (const ConfigNode& item : reader.sequence("gpus")) {
    const std::optional<std::int64_t> gpus = parse_integer(item.scalar);
    const std::int32_t per_node = node ? node->gpus.value() : 1;
    if (!gpus || *gpus <= 0 || *gpus > kMaxNodes || *gpus % per_node != 0) {
      reader.error("gpus", fmt::format("'{}' is no multiple of the node's {} GPUs", item.scalar, per_node));
    } else if (node) {
      const NodeCount nodes(static_cast<std::int32_t>(*gpus / per_node));
      out.push_back(
          {.name = fmt::format("{}-{}", name, *gpus), .node = *node, .nodes = nodes, .fabric = fabric});
    }
  }
  reader.finish();
}

/// Calls `read(reader, name)` for each entry of the map under `section` of a catalogue file.
template <class Read>
void for_each_entry(std::string_view yaml, const char* section, Diagnostics& diagnostics, Read read) {
  const ConfigNode root = parse_yaml(yaml, fmt::format("{}.yaml", section), diagnostics);
  const ConfigNode* map = root.find(section);
  VTRAIN_ASSERT(map != nullptr, fmt::format("the catalogue has no section '{}'", section));
  for (const ConfigNode::Entry& entry : map->entries) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader reader(entry.value, entry.key, diagnostics, effective);
    read(reader, entry.key);
  }
}

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

std::string hint_for_unknown_cluster(const std::string& name, const Catalogue& catalogue) {
  if (const NodeType* node = catalogue.node(name))
    return fmt::format("'{0}' is a node type: write {{nodes: 4, node: {0}}}", node->name);
  return suggest(name, names_of(catalogue.clusters()));
}

/// The cluster in the YAML file `value`; the effective configuration gets its map, so that it stands alone.
std::optional<Cluster> read_cluster_file(ConfigReader& reader, std::string_view key, const ConfigNode& value,
                                         const Catalogue& catalogue, const std::filesystem::path& base) {
  // A path that was given on the command line is relative to where the command runs.
  const bool from_command_line = value.where.file.starts_with("--set");
  const std::filesystem::path file =
      from_command_line ? std::filesystem::path(value.scalar) : base / value.scalar;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    reader.error(key, fmt::format("there is no cluster file '{}'", file.string()));
    return std::nullopt;
  }
  const std::size_t errors_before = reader.diagnostics().error_count();
  const ConfigNode root = read_yaml(file, reader.diagnostics());
  if (reader.diagnostics().error_count() != errors_before)
    return std::nullopt;
  ConfigNode effective = ConfigNode::map();
  ConfigReader inner(root, "", reader.diagnostics(), effective);
  std::optional<Cluster> cluster = read_cluster_map(inner, file.stem().string(), catalogue);
  reader.record(key, std::move(effective));
  return cluster;
}

std::optional<Cluster> read_cluster_value(ConfigReader& reader, std::string_view key,
                                          const Catalogue& catalogue, const std::filesystem::path& base) {
  const ConfigNode* value = reader.raw(key);
  if (value == nullptr) {
    reader.error(key, fmt::format("missing key '{}'", key),
                 "name a cluster of the catalogue, such as a100-256");
    return std::nullopt;
  }
  if (value->kind == ConfigNode::Kind::map) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader inner(*value, std::string(key), reader.diagnostics(), effective);
    std::optional<Cluster> cluster = read_cluster_map(inner, "inline", catalogue);
    reader.record(key, std::move(effective));
    return cluster;
  }
  if (value->kind != ConfigNode::Kind::scalar) {
    reader.error(key, fmt::format("{} must be a name, a path or a map", key));
    return std::nullopt;
  }
  if (const Cluster* cluster = catalogue.cluster(value->scalar))
    return *cluster;
  if (looks_like_path(value->scalar))
    return read_cluster_file(reader, key, *value, catalogue, base);
  reader.error(key, fmt::format("unknown cluster '{}'", value->scalar),
               hint_for_unknown_cluster(value->scalar, catalogue));
  return std::nullopt;
}

} // namespace

Catalogue Catalogue::builtin() {
  Catalogue catalogue;
  Diagnostics diagnostics;
  for_each_entry(embedded::gpus_yaml, "gpus", diagnostics,
                 [&](ConfigReader& reader, const std::string& name) {
                   catalogue.gpus_.push_back(read_gpu(reader, name));
                 });
  for_each_entry(embedded::nodes_yaml, "nodes", diagnostics,
                 [&](ConfigReader& reader, const std::string& name) {
                   if (std::optional<NodeType> node = read_node_map(reader, name, catalogue))
                     catalogue.nodes_.push_back(*std::move(node));
                 });
  for_each_entry(embedded::clusters_yaml, "clusters", diagnostics,
                 [&](ConfigReader& reader, const std::string& name) {
                   read_family(reader, name, catalogue, catalogue.clusters_);
                 });
  std::string errors;
  for (const Diagnostic& diagnostic : diagnostics.kept())
    errors += "\n" + to_string(diagnostic);
  VTRAIN_ASSERT(!diagnostics.has_errors(), "the catalogue that is compiled in is wrong:" + errors);
  return catalogue;
}

const Gpu* Catalogue::gpu(std::string_view name) const {
  if (const Gpu* exact = find_by_name(gpus_, name))
    return exact;
  const auto has_alias = [&](const Gpu& gpu) {
    return std::ranges::any_of(gpu.aliases,
                               [&](const std::string& a) { return equal_ignoring_case(a, name); });
  };
  const auto at = std::ranges::find_if(gpus_, has_alias);
  return at == gpus_.end() ? nullptr : &*at;
}

const NodeType* Catalogue::node(std::string_view name) const {
  return find_by_name(nodes_, name);
}

const Cluster* Catalogue::cluster(std::string_view name) const {
  return find_by_name(clusters_, name);
}

Cluster read_cluster(ConfigReader& reader, std::string_view key, const Catalogue& catalogue,
                     const std::filesystem::path& base) {
  if (std::optional<Cluster> cluster = read_cluster_value(reader, key, catalogue, base))
    return *std::move(cluster);
  VTRAIN_ASSERT(reader.diagnostics().has_errors(), "a cluster was refused without saying why");
  return {.name = "placeholder", .node = catalogue.nodes().front(), .nodes = NodeCount(1), .fabric = {}};
}

} // namespace vtrain
