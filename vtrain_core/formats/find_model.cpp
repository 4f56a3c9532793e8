// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/find_model.hpp"

#include "common/config.hpp"
#include "common/file.hpp"
#include "common/letter_case.hpp"
#include "vtrain_core/formats/huggingface_config.hpp"
#include "vtrain_core/formats/megatron_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

namespace vtrain {
namespace {

bool looks_like_path(std::string_view text) {
  constexpr std::array<std::string_view, 5> kEndings{".json", ".yaml", ".yml", ".sh", ".args"};
  return text.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return text.ends_with(ending); });
}

ModelShape read_yaml_text(const std::string& text, const std::filesystem::path& file,
                          Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  const ConfigNode root = parse_yaml(text, file.string(), diagnostics);
  if (diagnostics.error_count() != errors_before)
    return placeholder_model();
  if (root.kind != ConfigNode::Kind::map) {
    const bool is_empty = root.kind == ConfigNode::Kind::null;
    diagnostics.error(is_empty ? SourceLocation{file.string(), 0, 0} : root.where,
                      is_empty ? "the file is empty" : "this must be a map",
                      "write lines such as layers: 96");
    return placeholder_model();
  }
  ConfigNode effective = ConfigNode::map();
  ConfigReader reader(root, "", diagnostics, effective);
  ModelShape model = read_model_map(reader);
  if (!root.find("name"))
    model.name = file.stem().string();
  return model;
}

/// A model from a file, by its ending, else by its first letter.
ModelShape read_model_file(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const std::string text = read_file(file);
  const std::string ending = lower_case(file.extension().string());
  const std::size_t errors_before = diagnostics.error_count();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool begins_as_json = first != std::string::npos && text[first] == '{';
  ModelShape model;
  if (ending == ".yaml" || ending == ".yml")
    model = read_yaml_text(text, file, diagnostics);
  else if (ending == ".json" || (ending != ".sh" && ending != ".args" && begins_as_json))
    model = read_huggingface_config(text, file.string(), diagnostics);
  else
    model = read_megatron_arguments(text, file.string(), diagnostics).model;
  return diagnostics.error_count() == errors_before ? model : placeholder_model();
}

} // namespace

ModelShape find_model(std::string_view name_or_file, const ModelCatalogue& catalogue,
                      const std::filesystem::path& base, const SourceLocation& where,
                      Diagnostics& diagnostics) {
  if (const ModelShape* known = catalogue.find(name_or_file))
    return *known;
  const std::filesystem::path file = base / name_or_file;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) {
    try {
      return read_model_file(file, diagnostics);
    } catch (const IoError& error) {
      diagnostics.error(where, error.what());
      return placeholder_model();
    }
  }
  if (looks_like_path(name_or_file)) {
    diagnostics.error(where, fmt::format("there is no model file '{}'", file.string()));
    return placeholder_model();
  }
  const std::string near = catalogue.suggestion(name_or_file);
  diagnostics.error(where, fmt::format("unknown model '{}'", name_or_file),
                    near.empty() ? "name a model of the catalogue, such as gpt3-175b, or a file" : near);
  return placeholder_model();
}

} // namespace vtrain
