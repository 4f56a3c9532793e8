// SPDX-License-Identifier: MIT
#include "common/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace vtrain {
namespace {

constexpr bool is_alphanumeric(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= 'a' && letter <= 'z');
}
constexpr bool is_control(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7F;
}
constexpr bool is_beyond_ascii(char letter) {
  return static_cast<unsigned char>(letter) >= 0x80;
}

/// Null here, or a boolean to YAML 1.1 readers such as PyYAML, which people point at our files.
bool is_reserved_word(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords{"null", "~", "yes", "no", "on", "off", "y", "n", ""};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  });
}

/// Whether YAML reads `text` without quotes as just this text, in block and in flow style. It says no to much
/// that would be fine.
bool is_plain(std::string_view text) {
  constexpr std::string_view kSafeInside = "_-./+%$@()=*<>!;^&~\\|#";
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; // at the start of a file it would vanish
  if (is_reserved_word(text) || text.starts_with("---") || text.starts_with("...") ||
      text.starts_with(kByteOrderMark))
    return false;
  const char first = text.front();
  const bool signed_number =
      (first == '-' || first == '+') && text.size() > 1 && (is_alphanumeric(text[1]) || text[1] == '.');
  if (!is_alphanumeric(first) && !is_beyond_ascii(first) && !signed_number && first != '_' && first != '.' &&
      first != '/' && first != '$' && first != '(' && first != '<')
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool safe = is_alphanumeric(letter) || is_beyond_ascii(letter) ||
                      kSafeInside.find(letter) != std::string_view::npos ||
                      (letter == ' ' && next != ' ' && next != '#') ||
                      (letter == ':' && (is_alphanumeric(next) || next == '/' || next == '\\'));
    if (!safe)
      return false;
  }
  return text != "<<";
}

void append_double_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else if (is_control(letter)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
}

void append_scalar(std::string& out, std::string_view text, bool quoted) {
  if (!quoted && is_plain(text)) {
    out += text;
    return;
  }
  if (std::any_of(text.begin(), text.end(), is_control)) {
    append_double_quoted(out, text);
    return;
  }
  out += '\'';
  for (const char letter : text) {
    if (letter == '\'')
      out += '\'';
    out += letter;
  }
  out += '\'';
}

/// A value on one line.
void append_flow(std::string& out, const ConfigNode& node) {
  const char* separator = "";
  switch (node.kind) {
  case ConfigNode::Kind::null: out += "null"; break;
  case ConfigNode::Kind::scalar: append_scalar(out, node.scalar, node.quoted); break;
  case ConfigNode::Kind::sequence:
    out += '[';
    for (const ConfigNode& item : node.items) {
      out += separator;
      append_flow(out, item);
      separator = ", ";
    }
    out += ']';
    break;
  case ConfigNode::Kind::map:
    out += '{';
    for (const ConfigNode::Entry& entry : node.entries) {
      out += separator;
      append_scalar(out, entry.key, false);
      out += ": ";
      append_flow(out, entry.value);
      separator = ", ";
    }
    out += '}';
    break;
  }
}

bool holds_map(const ConfigNode& sequence) {
  return std::any_of(sequence.items.begin(), sequence.items.end(),
                     [](const ConfigNode& item) { return item.kind == ConfigNode::Kind::map; });
}

/// The entries of a map, one a line; sequences of maps get a line an item.
void append_block(std::string& out, const ConfigNode& map, std::size_t indent) {
  for (const ConfigNode::Entry& entry : map.entries) {
    out.append(indent, ' ');
    append_scalar(out, entry.key, false);
    out += ':';
    const ConfigNode& value = entry.value;
    if (value.kind == ConfigNode::Kind::map && !value.entries.empty()) {
      out += '\n';
      append_block(out, value, indent + 2);
    } else if (value.kind == ConfigNode::Kind::sequence && holds_map(value)) {
      out += '\n';
      for (const ConfigNode& item : value.items) {
        out.append(indent + 2, ' ');
        out += "- ";
        append_flow(out, item);
        out += '\n';
      }
    } else {
      out += ' ';
      append_flow(out, value);
      out += '\n';
    }
  }
}

} // namespace

std::string to_yaml(const ConfigNode& node) {
  std::string out;
  if (node.kind == ConfigNode::Kind::map && !node.entries.empty()) {
    append_block(out, node, 0);
    return out;
  }
  append_flow(out, node);
  out += '\n';
  return out;
}

} // namespace vtrain
