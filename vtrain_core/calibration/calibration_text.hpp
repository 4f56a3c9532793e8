// SPDX-License-Identifier: MIT
// The files of catalog/, compiled in by cmake/embed_text.cmake.
#pragma once

#include <string_view>

namespace vtrain::embedded {
extern const std::string_view stacks_yaml;
extern const std::string_view textbook_yaml;
extern const std::string_view a100_megatron_yaml;
extern const std::string_view a100_megatron_deepspeed_yaml;
extern const std::string_view a100_bf16_megatron_deepspeed_yaml;
extern const std::string_view a100_fsdp_yaml;
extern const std::string_view h100_bf16_fsdp_yaml;
extern const std::string_view h100_fp8_fsdp_yaml;
extern const std::string_view h100_fp8_megatron_yaml;
} // namespace vtrain::embedded
