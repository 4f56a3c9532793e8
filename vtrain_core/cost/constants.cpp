// SPDX-License-Identifier: MIT
#include "vtrain_core/cost/constants.hpp"

namespace vtrain {
namespace {
// Widths are how far the constants of well-tuned programs on one GPU are known to lie apart. A width of 0:
// the data cannot tell the constant from others (iteration time is collinear in them), so it stays.
constexpr std::array<ConstantInfo, kConstants> kTable{{
    {"gemm_efficiency", "1", 0.82, 0.08, 0.05, 1.0,
     "share of the dense peak that a large GEMM reaches in whole waves; the most measured on an A100 is "
     "0.87"},
    {"memory_efficiency", "1", 0.85, 0.05, 0.1, 1.0, "share of the memory bandwidth that kernels reach"},
    {"attention_efficiency", "1", 0.40, 0.25, 0.02, 1.0,
     "share of the 16-bit peak of a fused attention kernel, forward and backward together"},
    {"misaligned_attention", "1", 10.0, 0.50, 1.0, 100.0,
     "slowdown of a batched GEMM of the attention whose n or k is no multiple of 8"},
    {"nvlink_efficiency", "1", 1.0, 0.15, 0.1, 2.0,
     "bandwidth of collectives within a node, relative to NCCL's in isolation on an A100"},
    {"network_efficiency", "1", 0.65, 0.20, 0.02, 1.0, "share of the node's network that collectives reach"},
    {"overlap_interference", "1", 0.20, 0.60, 0.0, 1.0,
     "share of an overlapped time by which computation and communication slow each other"},
    {"straggler", "1", 0.01, 0.50, 0.0, 0.5,
     "spread of the replicas' speeds; the slowest of n is later by straggler x sqrt(2 ln n)"},
    {"layer_launch", "s", 1.3e-3, 0.25, 0.0, 0.1,
     "time in which the host launches the forward kernels of a layer"},
    {"iteration_overhead", "s", 0.15, 0.80, 0.0, 60.0,
     "what an iteration costs whatever its size: data loader, synchronisation, logging"},
    {"misaligned_gemm", "1", 2.5, 0.0, 1.0, 100.0,
     "slowdown of other GEMMs whose n or k is no multiple of 8"},
    {"fp8_efficiency", "1", 0.80, 0.0, 0.05, 1.0,
     "efficiency of fp8 GEMMs relative to that of 16-bit ones, each against its own peak"},
    {"backward_launch_ratio", "1", 1.6, 0.0, 0.5, 5.0,
     "kernels to launch in a backward pass, relative to a forward"},
    {"optimizer_traffic", "B", 30.0, 0.0, 1.0, 1000.0,
     "memory traffic of Adam in mixed precision for a parameter: states, gradient, master and 16-bit copy"},
    {"message_latency", "s", 20e-6, 0.0, 0.0, 1.0, "latency of a message between pipeline stages"},
    {"hop_latency", "s", 5e-6, 0.0, 0.0, 1.0, "latency of one step of a collective between nodes"},
}};
} // namespace

std::span<const ConstantInfo, kConstants> constant_table() {
  return kTable;
}

std::optional<Constant> find_constant(std::string_view name) {
  for (std::size_t i = 0; i < kConstants; ++i)
    if (kTable[i].name == name)
      return static_cast<Constant>(i);
  return std::nullopt;
}

ConstantValues::ConstantValues() {
  for (std::size_t i = 0; i < kConstants; ++i)
    values_[i] = kTable[i].value;
}

} // namespace vtrain
