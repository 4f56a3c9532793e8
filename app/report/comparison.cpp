// SPDX-License-Identifier: MIT
#include "app/report/comparison.hpp"

#include <nlohmann/json.hpp>

namespace vtrain {

std::string to_json(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json runs = Json::array();
  for (const ReportRun& run : comparison.runs)
    runs.push_back({{"policy", run.summary.policy}, {"summary", Json::parse(to_json(run.summary))}});
  Json skipped = Json::array();
  for (const Comparison::Skipped& one : comparison.skipped)
    skipped.push_back({{"policy", one.policy}, {"reason", one.reason}});
  const Json out = {{"runs", runs}, {"skipped", skipped}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace vtrain
