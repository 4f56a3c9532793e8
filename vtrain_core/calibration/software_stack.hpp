// SPDX-License-Identifier: MIT
// Software stacks: what the training programs of the published measurements do by themselves; and the
// textbook constants of each GPU.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// A training program: its habits, and what it overlaps where a measured row has no column for it.
struct SoftwareStack {
  std::string name;    ///< as rows write it, such as "megatron-lm"
  std::string meaning; ///< program and time, for people
  std::string source;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  bool overlap_tensor = false;
  bool overlap_pipeline = false;
  bool native_attention = false; ///< attention kernels written for the GPU generation they run on
  StackHabits habits;

  /// Sets the plan's overlaps to the stack's.
  void apply(ParallelPlan& plan) const;
};

/// What a plan is where nothing is said: Megatron-LM's defaults with the overlaps of the stack, bf16 where
/// the GPU has it.
[[nodiscard]] ParallelPlan usual_plan(const SoftwareStack& stack, const Gpu& gpu);

/// The stacks that ship (catalog/stacks.yaml, compiled in), Megatron-LM first. Throws InternalError if the
/// YAML is wrong.
[[nodiscard]] std::vector<SoftwareStack> builtin_stacks();
/// By name; null when unknown.
[[nodiscard]] const SoftwareStack* find_stack(const std::vector<SoftwareStack>& stacks,
                                              std::string_view name);

/// The textbook constants of each GPU (catalog/textbook.yaml, compiled in): those of the A100, but for what
/// is published for the GPU.
class TextbookConstants {
public:
  /// Throws InternalError if the YAML is wrong.
  TextbookConstants();
  /// Whether the GPU has an entry of its own; the A100's constants are used otherwise.
  [[nodiscard]] bool knows(const Gpu& gpu) const;
  [[nodiscard]] ConstantValues of(const Gpu& gpu, const SoftwareStack& stack) const;

private:
  struct Entry {
    std::string gpu;
    double gemm_efficiency = 0;
    double attention_efficiency = 0;
    double native_attention_efficiency = 0;
  };
  std::vector<Entry> entries_;
};

} // namespace vtrain
