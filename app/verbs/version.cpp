// SPDX-License-Identifier: MIT
#include "app/build_info.hpp"
#include "app/command_line.hpp"
#include "app/text_table.hpp"
#include "app/verbs.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace vtrain {
namespace {

int version_verb(const CommonFlags& flags) {
  std::string out;
  switch (flags.format) {
  case OutputFormat::table: out = version_line() + "\n"; break;
  case OutputFormat::json:
    out = nlohmann::ordered_json({{"version", version()}, {"commit", commit()}, {"build_type", build_type()}})
              .dump(2) +
          "\n";
    break;
  case OutputFormat::csv: {
    ResultTable table({{"version", "", {}}, {"commit", "", {}}, {"build_type", "", {}}});
    table.add({std::string(version()), std::string(commit()), std::string(build_type())});
    out = table.to_csv();
    break;
  }
  }
  std::fputs(out.c_str(), stdout);
  return 0;
}

} // namespace

void add_version(CommandLine& command) {
  command.verb("version", "Show the version of this program")
      .example("vtrain version --format json")
      .action(version_verb);
}

} // namespace vtrain
