// SPDX-License-Identifier: MIT
// From YAML to the tree. yaml-cpp is seen here alone, and only its event parser: the nodes it would build
// accept keys given twice, and `LoadAll` does not end on some damaged texts.
#include "common/config.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace vtrain {
namespace {

constexpr std::size_t kMaxNodes = 200'000; // aliases of aliases grow without bound
constexpr const char* kTextTag = "tag:yaml.org,2002:str";

SourceLocation location_of(const YAML::Mark& mark, const std::string& file) {
  if (mark.is_null())
    return {file, 0, 0};
  return {file, static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

/// Builds the tree of one document from the parser's events.
class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  [[nodiscard]] ConfigNode take_root() { return std::move(root_); }
  /// Where the last scalar in quotes begins.
  [[nodiscard]] const SourceLocation& last_quoted() const { return last_quoted_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(node_at(mark, ConfigNode::Kind::null), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    ConfigNode node = node_at(mark, ConfigNode::Kind::scalar);
    node.scalar = value;
    node.quoted = tag == "!" || tag == kTextTag; // "?" is a plain scalar
    if (node.quoted)
      last_quoted_ = node.where;
    refuse_tag(tag, node.where);
    add_leaf(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const SourceLocation where = location_of(mark, file_);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      error(where, "an alias stands inside the value it names");
      add_leaf(node_at(mark, ConfigNode::Kind::null), 0);
    } else if (count(known->second.extent, where)) {
      add(ConfigNode(known->second.node), 0, known->second.extent);
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

private:
  /// How many values a tree holds, and how many levels are below its root.
  struct Extent {
    std::size_t nodes = 1;
    std::size_t depth = 0;
  };
  struct Anchored {
    ConfigNode node;
    Extent extent;
  };
  /// A sequence or map whose end has not come yet.
  struct Open {
    ConfigNode node;
    YAML::anchor_t anchor = 0;
    Extent extent;
    bool has_key = false;         ///< of a map: the next value belongs to `key`
    bool key_is_accepted = false; ///< of a map: or is dropped, after an error
    std::string key;
    SourceLocation key_where;
    std::unordered_map<std::string, SourceLocation> seen; ///< of a map: where its keys stand
  };

  [[nodiscard]] ConfigNode node_at(const YAML::Mark& mark, ConfigNode::Kind kind) const {
    ConfigNode node;
    node.kind = kind;
    node.where = location_of(mark, file_);
    return node;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, ConfigNode::Kind kind) {
    Open container;
    container.node = node_at(mark, kind);
    container.anchor = anchor;
    refuse_tag(tag, container.node.where);
    (void)count({}, container.node.where);
    open_.push_back(std::move(container));
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor, done.extent);
  }

  /// Counts values that come to stand in the innermost open container. False, after one error, when they are
  /// too many or too deep; then the rest of the text is not built.
  bool count(Extent extent, const SourceLocation& where) {
    nodes_ += extent.nodes;
    if (is_stopped_)
      return false;
    is_stopped_ = nodes_ > kMaxNodes || open_.size() + extent.depth > kMaxConfigDepth;
    if (is_stopped_)
      error(where, nodes_ > kMaxNodes ? fmt::format("more than {} values", kMaxNodes)
                                      : fmt::format("values are nested more than {} deep", kMaxConfigDepth));
    return !is_stopped_;
  }

  void add_leaf(ConfigNode node, YAML::anchor_t anchor) {
    if (count({}, node.where))
      add(std::move(node), anchor, {});
  }

  /// Puts a complete value, counted already, where it belongs.
  void add(ConfigNode node, YAML::anchor_t anchor, Extent extent) {
    if (is_stopped_ || (anchor != 0 && !count(extent, node.where))) // what an anchor keeps is a copy
      return;
    if (anchor != 0)
      anchors_[anchor] = {node, extent};
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    const bool in_map = parent.node.kind == ConfigNode::Kind::map;
    if (in_map && !parent.has_key) {
      parent.key_where = node.where;
      parent.key_is_accepted = accept_key(node, parent);
      parent.key = std::move(node.scalar);
      parent.has_key = true;
      return;
    }
    parent.has_key = false;
    if (in_map && !parent.key_is_accepted)
      return;
    parent.extent.nodes += extent.nodes;
    parent.extent.depth = std::max(parent.extent.depth, extent.depth + 1);
    if (in_map)
      parent.node.entries.push_back({std::move(parent.key), std::move(parent.key_where), std::move(node)});
    else
      parent.node.items.push_back(std::move(node));
  }

  bool accept_key(const ConfigNode& key, Open& map) {
    if (key.kind != ConfigNode::Kind::scalar) {
      error(key.where, "a key must be a text", "put it in quotes");
      return false;
    }
    if (key.scalar.size() > kMaxConfigKeyLength) {
      error(key.where, fmt::format("a key is longer than {} characters", kMaxConfigKeyLength));
      return false;
    }
    if (key.scalar == "<<") {
      error(key.where, "merge keys ('<<') are not supported", "write the keys out");
      return false;
    }
    const auto [first, is_new] = map.seen.emplace(key.scalar, key.where);
    if (!is_new)
      error(key.where, fmt::format("key '{}' is given twice", key.scalar),
            fmt::format("first given at line {}, column {}", first->second.line, first->second.column));
    return is_new;
  }

  void refuse_tag(const std::string& tag, const SourceLocation& where) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != kTextTag)
      error(where, fmt::format("the YAML tag '{}' is not supported", tag), "leave it out");
  }

  void error(const SourceLocation& where, std::string message, std::string hint = {}) {
    diagnostics_.error(where, std::move(message), std::move(hint));
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  ConfigNode root_;
  std::vector<Open> open_; ///< outermost first
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  bool is_stopped_ = false;
  SourceLocation last_quoted_;
};

/// Hears where documents begin and nothing else.
class DocumentListener : public YAML::EventHandler {
public:
  [[nodiscard]] const YAML::Mark& start() const { return start_; }
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

private:
  YAML::Mark start_;
};

/// yaml-cpp 0.7 takes the end of the text for a closing quote if a line end stands before it. Without that
/// line end it does not.
bool ends_inside_quotes(std::string_view text) {
  const std::size_t size = text.find_last_not_of(" \t\r\n\\") + 1; // a backslash escapes a line end
  if (size == text.size() || text.find_first_of("\"'") == std::string_view::npos)
    return false;
  try {
    std::istringstream input{std::string(text.substr(0, size))};
    DocumentListener nobody;
    (void)YAML::Parser(input).HandleNextDocument(nobody);
  } catch (const YAML::Exception& failure) {
    return failure.msg == YAML::ErrorMsg::EOF_IN_SCALAR;
  }
  return false;
}

/// What yaml-cpp says of a tab does not mention the tab.
std::string tab_hint(std::string_view text, std::size_t line) {
  for (std::size_t at = 1; at < line && !text.empty(); ++at)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::size_t first = text.find_first_not_of(" \t");
  return text.substr(0, first).find('\t') == std::string_view::npos
             ? ""
             : "YAML indents with blanks, not with tabs";
}

/// Bytes of the UTF-8 character at the start of `text`; 0 if it is none, or a control character.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80)
    return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xF5   ? 0
                             : first >= 0xF0 ? 4
                             : first >= 0xE0 ? 3
                             : first >= 0xC2 ? 2
                                             : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (std::size_t at = 1; at < length; ++at)
    if ((byte(at) & 0xC0U) != 0x80)
      return 0;
  const bool is_overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool is_no_character = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return is_overlong || is_no_character ? 0 : length;
}

/// yaml-cpp guesses at UTF-16, passes damaged UTF-8 on, and takes a control character for the end of the
/// text.
bool is_readable(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  SourceLocation where{file, 1, 1};
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      diagnostics.error(where, "this is not UTF-8 text");
      return false;
    }
    where.column = text.front() == '\n' ? 1 : where.column + 1;
    where.line += text.front() == '\n' ? 1 : 0;
    text.remove_prefix(length);
  }
  return true;
}

ConfigNode parse_readable(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  TreeBuilder builder(file, diagnostics);
  try {
    std::istringstream input{std::string(text)};
    YAML::Parser parser(input);
    DocumentListener second;
    if (parser.HandleNextDocument(builder) && parser.HandleNextDocument(second))
      diagnostics.error(location_of(second.start(), file), "more than one YAML document",
                        "keep one; a line of another kind than those before it also starts a new one");
    else if (ends_inside_quotes(text))
      diagnostics.error(builder.last_quoted(), "a quote opens here and is never closed");
  } catch (const YAML::Exception& failure) {
    const SourceLocation where = location_of(failure.mark, file);
    diagnostics.error(where, "not valid YAML: " + failure.msg, tab_hint(text, where.line));
  }
  return builder.take_root();
}

} // namespace

ConfigNode parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  ConfigNode root;
  if (is_readable(text, file, diagnostics))
    root = parse_readable(text, file, diagnostics);
  if (root.where.line == 0)
    root.where = {file, 1, 1};
  return root;
}

} // namespace vtrain
