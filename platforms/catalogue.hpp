// SPDX-License-Identifier: MIT
// The catalogue of GPUs, nodes and clusters (catalog/*.yaml, compiled in), and clusters given in YAML.
#pragma once

#include "common/config.hpp"
#include "common/diagnostics.hpp"
#include "platforms/platform.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// GPUs, node types and clusters by name. Building it parses the YAML that is compiled in: do so only when
/// needed.
class Catalogue {
public:
  /// The catalogue that ships. Throws InternalError if its YAML is wrong (a test reads it).
  static Catalogue builtin();

  /// Look-ups by name (aliases of GPUs included, letter case does not matter); null when unknown. An
  /// alias that fits several GPUs ("A100") means the first of the catalogue.
  [[nodiscard]] const Gpu* gpu(std::string_view name) const;
  [[nodiscard]] const NodeType* node(std::string_view name) const;
  [[nodiscard]] const Cluster* cluster(std::string_view name) const;

  [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<NodeType>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Cluster>& clusters() const { return clusters_; }

private:
  std::vector<Gpu> gpus_;
  std::vector<NodeType> nodes_;
  std::vector<Cluster> clusters_;
};

/// Reads the value of `key` (usually "cluster") of an experiment: a catalogue name, a path to a YAML file
/// that holds such a map (relative to `base`, or to the current folder when it comes from `--set`), or an
/// inline map
/// `{nodes: 32, node: dgx-a100-80g, fabric: {topology: fat-tree, oversubscription: 2}, price: 2.50USD/h}` or
/// `{nodes: 3, node: {gpus: 4, gpu: V100-SXM2, network: 100Gbps}}`. A node without `network` or `price` gets
/// those of the catalogue's node with the same GPU, the network by its share of GPUs.
///
/// The effective configuration records a name as it is, an inline map or a file's map with its defaults.
/// Errors, among them an unknown name with a suggestion, go to the reader's diagnostics; then the result is a
/// one-node placeholder.
[[nodiscard]] Cluster read_cluster(ConfigReader& reader, std::string_view key, const Catalogue& catalogue,
                                   const std::filesystem::path& base);

} // namespace vtrain
