// SPDX-License-Identifier: MIT
#include "app/manifest.hpp"

#include "app/build_info.hpp"
#include "app/run.hpp"
#include "common/file.hpp"
#include "common/sha256.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sys/resource.h>
#include <unistd.h>

namespace vtrain {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::int64_t kKib = 1024; // Linux reports KiB
  return static_cast<std::int64_t>(usage.ru_maxrss) * kKib;
}

std::string absolute_text(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

using Json = nlohmann::ordered_json;

Json common_facts(const std::string& command_line, const char* status, const std::vector<InputFile>& inputs) {
  Json files = Json::array();
  for (const InputFile& input : inputs)
    files.push_back({{"path", input.path}, {"sha256", input.sha256}});
  return {{"program", "vtrain"},  {"schema", 1},        {"status", status},
          {"version", version()}, {"commit", commit()}, {"command_line", command_line},
          {"inputs", files},      {"host", host_name()}};
}

std::string to_text(const Json& json) {
  // A path that is no UTF-8 must not cost the run.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::vector<InputFile> input_files(const Experiment& experiment, const Workload& workload) {
  std::vector<InputFile> out = {{absolute_text(experiment.trace.file), workload.funnel.sha256}};
  for (const std::filesystem::path& file : experiment.throughput.input_files())
    out.push_back({absolute_text(file), sha256(read_file(file))});
  return out;
}

std::string command_line_text() {
  std::string text = read_file("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

std::string manifest_json(const ManifestFacts& facts) {
  Json out = common_facts(facts.command_line, facts.interrupted ? "interrupted" : "complete", facts.inputs);
  out["config"] = facts.config;
  out["config_sha256"] = sha256(facts.config);
  out["wall_s"] = facts.wall_s;
  out["engine_s"] = facts.engine_s;
  out["peak_rss_bytes"] = peak_rss_bytes();
  out["events"] = facts.events;
  out["policy_calls"] = facts.policy_calls;
  return to_text(out);
}

std::string comparison_manifest(const Experiment& experiment, const Workload& workload,
                                const std::string& command_line, bool complete) {
  const char* status = interrupt_flag().load() ? "interrupted" : complete ? "complete" : "incomplete";
  return to_text(common_facts(command_line, status, input_files(experiment, workload)));
}

} // namespace vtrain
