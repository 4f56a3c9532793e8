// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "schedulers/registry.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::literals;

namespace {

struct ReadOptions {
  PolicyOptions options;
  ConfigNode effective;
  Diagnostics diagnostics;
};

ReadOptions read(const char* policy, const std::string& yaml) {
  const PolicyRegistry registry = builtin_policies();
  const PolicyEntry& entry = *registry.find(policy);
  ReadOptions result;
  const ConfigNode node = parse_yaml(yaml, "test", result.diagnostics);
  ConfigReader reader(node, policy, result.diagnostics, result.effective);
  result.options = PolicyOptions::read(reader, entry.schema);
  if (entry.check != nullptr)
    entry.check(result.options, reader);
  return result;
}

} // namespace

TEST_CASE("every built-in policy says what it is and can be made from its defaults") {
  const PolicyRegistry registry = builtin_policies();
  CHECK(registry.names() ==
        std::vector<std::string>{"fifo", "fit_first", "sjf", "srtf", "srsf", "edf", "las", "easy"});
  for (const PolicyEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.source.empty());
    for (const Parameter& parameter : entry.schema)
      CHECK_FALSE(parameter.doc.empty());
    CHECK(static_cast<bool>(entry.make(PolicyOptions::defaults(entry.schema))));
    CHECK(read(entry.name.c_str(), "{}").options.describe() ==
          PolicyOptions::defaults(entry.schema).describe());
  }
  CHECK(registry.find("SRTF") == nullptr);
}

TEST_CASE("policies that need run times and those that preempt say so") {
  const PolicyRegistry registry = builtin_policies();
  for (const char* name : {"sjf", "srtf", "srsf", "easy"})
    CHECK(registry.find(name)->needs_duration);
  for (const char* name : {"fifo", "fit_first", "edf", "las"})
    CHECK_FALSE(registry.find(name)->needs_duration);
  for (const char* name : {"srtf", "srsf", "edf", "las"})
    CHECK(registry.find(name)->preemptive);
}

TEST_CASE("options are read, recorded and described in one way") {
  const ReadOptions result = read("las", "{limits: [1h, 2h], service: time}");
  CHECK_FALSE(result.diagnostics.has_errors());
  CHECK(result.options.choice("service") == "time");
  CHECK(result.options.choice("variant") == "paper");
  CHECK(result.options.seconds_list("limits") == std::vector<Seconds>{3600_s, 7200_s});
  CHECK(result.options.describe() == "limits=[3600s, 7200s],service=time,variant=paper");
  CHECK(to_yaml(result.effective) ==
        to_yaml(read("las", "{service: time, limits: [3600s, 7200s], variant: paper}").effective));
  CHECK(read("fifo", "{}").options.describe().empty());
  CHECK_THROWS_AS(static_cast<void>(result.options.choice("limit")), InternalError);
}

TEST_CASE("booleans are options too") {
  const std::vector<Parameter> schema{{.name = "elastic",
                                       .kind = Parameter::Kind::boolean,
                                       .fallback = "false",
                                       .choices = {},
                                       .doc = "Whether gangs change their size"}};
  CHECK_FALSE(PolicyOptions::defaults(schema).boolean("elastic"));
  CHECK(PolicyOptions::defaults(schema).describe() == "elastic=false");
  Diagnostics diagnostics;
  ConfigNode effective;
  const ConfigNode node = parse_yaml("{elastic: true}", "test", diagnostics);
  ConfigReader reader(node, "edf", diagnostics, effective);
  CHECK(PolicyOptions::read(reader, schema).boolean("elastic"));
}

TEST_CASE("wrong options are refused") {
  struct Wrong {
    const char* policy;
    const char* yaml;
  };
  for (const Wrong& wrong :
       {Wrong{"fifo", "{scan: blocking}"}, Wrong{"sjf", "{scan: both}"}, Wrong{"las", "{limits: [3250s]}"},
        Wrong{"las", "{limits: [3250, 7200]}"}, Wrong{"las", "{limits: [7200s, 3250s]}"},
        Wrong{"las", "{limits: [0s, 3250s]}"}, Wrong{"las", "{limits: 3250s}"},
        Wrong{"las", "{limit: [1s, 2s]}"}, Wrong{"las", "{limits: [1s, [2s]]}"}}) {
    CAPTURE(wrong.yaml);
    CHECK(read(wrong.policy, wrong.yaml).diagnostics.has_errors());
  }
}

TEST_CASE("two policies of one name are a mistake") {
  PolicyRegistry registry = builtin_policies();
  PolicyEntry entry = registry.entries().front();
  CHECK_THROWS_AS(registry.add(entry), InternalError);
  entry.name = "another";
  registry.add(entry);
  CHECK(registry.find("another") != nullptr);
}
