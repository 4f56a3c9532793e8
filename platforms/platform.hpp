// SPDX-License-Identifier: MIT
// What machines are: GPU, node, fabric, cluster. Plain data; the catalogue and the YAML loader are in
// catalogue.hpp.
#pragma once

#include "common/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// A GPU model by its data-sheet figures.
struct Gpu {
  std::string name;                       ///< catalogue name, such as "A100-SXM-80GB"
  std::vector<std::string> aliases;       ///< other names that mean the same GPU
  FlopsPerSecond peak_fp16;               ///< dense fp16 tensor peak (bf16 too where the GPU has it)
  std::optional<FlopsPerSecond> peak_fp8; ///< dense fp8 tensor peak; none where the GPU has no fp8
  bool bf16 = true;                       ///< whether the tensor cores take bf16
  std::int32_t multiprocessors = 108;     ///< units that a kernel's tiles are dealt to (SMs, CUs)
  Bytes memory;
  BytesPerSecond memory_bandwidth;
  BytesPerSecond nvlink;          ///< one direction, all links together; PCIe's rate on GPUs without NVLink
  BytesPerSecond host_link{32e9}; ///< one direction, between GPU and host memory (PCIe, or NVLink-C2C)
  Watts tdp;
};

/// A server with equal GPUs.
struct NodeType {
  std::string name; ///< catalogue name such as "dgx-a100-80g"; empty for one given inline
  Gpu gpu;
  GpuCount gpus;
  BytesPerSecond network;                ///< one direction, all NICs of the node together
  std::optional<UsdPerSecond> gpu_price; ///< price of one GPU for one second; none if unknown
};

/// How the nodes are connected.
struct Fabric {
  std::string topology = "fat-tree"; ///< "fat-tree" or "star"
  double oversubscription = 1.0;     ///< uplink shortage of a leaf, >= 1
};

/// A homogeneous cluster.
struct Cluster {
  std::string name; ///< catalogue name; "inline" for one given in an experiment file, else its file's stem
  NodeType node;
  NodeCount nodes;
  Fabric fabric;

  [[nodiscard]] GpuCount gpus() const { return GpuCount(nodes.value() * node.gpus.value()); }
};

} // namespace vtrain
