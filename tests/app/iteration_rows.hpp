// SPDX-License-Identifier: MIT
// A small table of measured iteration times, made up: near what the textbook constants give.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace vtrain_test {

inline constexpr std::string_view kRowsHeader =
    "id,software_stack,cluster,gpu,gpus,gpus_per_node,node_network_gbps,tensor_parallel,pipeline_parallel,"
    "data_parallel,global_batch,micro_batch,sequence_length,hidden,heads,layers,vocab,recompute,flash_"
    "attention,"
    "dtype,iteration_time_s\n";

/// Four rows of Megatron-LM in fp16 on A100.
inline std::string measured_rows() {
  std::string rows{kRowsHeader};
  rows += "a,megatron-lm,x,A100-SXM-80GB,8,8,1600,8,1,1,16,4,2048,4096,32,32,51200,full,0,fp16,2.1\n"
          "b,megatron-lm,x,A100-SXM-80GB,16,8,1600,4,2,2,64,2,2048,4096,32,32,51200,full,0,fp16,3.4\n"
          "c,megatron-lm,x,A100-SXM-80GB,32,8,1600,8,4,1,64,1,2048,8192,64,48,51200,full,0,fp16,9.9\n"
          "d,megatron-lm,x,A100-SXM-80GB,64,8,1600,8,4,2,128,1,2048,8192,64,48,51200,none,0,fp16,7.3\n";
  return rows;
}

/// Whether `text` holds `part`.
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// `text` with the first `from` replaced by `to`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

/// A path as a word of the shell.
inline std::string quoted(const std::filesystem::path& path) {
  return "'" + path.string() + "'";
}

/// The number of lines of a text.
inline std::size_t line_count(std::string_view text) {
  std::size_t lines = 0;
  for (const char c : text)
    lines += c == '\n' ? 1 : 0;
  return lines;
}

} // namespace vtrain_test
