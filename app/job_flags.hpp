// SPDX-License-Identifier: MIT
// The flags that describe one training job: its model, its platform, its parallel plan. A flag is a setting
// of a job file that was written on the command line.
#pragma once

#include "app/command_line.hpp"
#include "common/config.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// What a verb does with the settings of a plan that a search can vary: takes one value, or tries a list.
enum class PlanFlags : std::uint8_t { one_plan, search };

/// The flags and what was given for them.
class JobFlags {
public:
  JobFlags();
  JobFlags(const JobFlags&) = delete;
  JobFlags& operator=(const JobFlags&) = delete;
  ~JobFlags() = default;

  /// Adds the flags to a verb, which this outlives.
  void add_to(Verb& verb, PlanFlags plan = PlanFlags::one_plan);
  /// Sets what was given over the tree of a job file. The place of a value is the flag's name, "--tp".
  void set_over(ConfigNode& root) const;
  /// The names of the flags that were given.
  [[nodiscard]] std::vector<std::string> given() const;

private:
  struct Value {
    std::optional<std::string> text;
    std::optional<bool> toggle;
  };
  PlanFlags plan_ = PlanFlags::one_plan;
  std::deque<Value> values_; ///< by flag; the command line keeps pointers to them
};

/// The settings of a plan that a search varies, by their keys.
[[nodiscard]] const std::vector<std::string>& searched_settings();

/// The flag of a setting: "--micro-batch" for micro_batch.
[[nodiscard]] std::string flag_of(std::string_view key);

} // namespace vtrain
