// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/shell_words.hpp"

#include <algorithm>

namespace vtrain {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kOperators = ";|&()<>";
constexpr std::size_t kLongestExpansion = 1000;

bool is_one_of(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

/// Whether a quoted text holds options rather than one value.
bool holds_options(std::string_view text) {
  const std::size_t dashes = text.find("--");
  return dashes != std::string_view::npos && text.find_first_of(kBlanks) != std::string_view::npos &&
         (dashes == 0 || is_one_of(kBlanks, text[dashes - 1]));
}

class Splitter {
public:
  Splitter(std::string_view script, std::vector<ShellWord>& words) : script_(script), words_(words) {}

  void split(std::size_t begin, std::size_t end) {
    at_ = begin;
    end_ = end;
    while (at_ < end_) {
      const char letter = script_[at_];
      if (const std::size_t length = continuation())
        at_ += length;
      else if (is_one_of(kBlanks, letter) || is_one_of(kOperators, letter))
        ++at_;
      else if (letter == '#')
        at_ = std::min(script_.find('\n', at_), end_);
      else
        read_word();
    }
  }

private:
  /// Length of a backslash and line end at the current place, else 0.
  [[nodiscard]] std::size_t continuation() const {
    const std::string_view rest = script_.substr(at_, end_ - at_);
    return rest.starts_with("\\\n") ? 2 : rest.starts_with("\\\r\n") ? 3 : 0;
  }

  void read_word() {
    ShellWord word{{}, at_};
    while (at_ < end_) {
      const char letter = script_[at_];
      if (continuation() != 0 || is_one_of(kBlanks, letter) || is_one_of(kOperators, letter))
        break;
      if ((letter == '"' || letter == '\'') && read_quoted(word))
        continue;
      if (letter == '$' && read_enclosed(word.text))
        continue;
      if (letter == '\\' && at_ + 1 < end_)
        ++at_;
      word.text += script_[at_++];
    }
    keep(word);
  }

  void keep(const ShellWord& word) {
    if (!word.text.empty())
      words_.push_back(word);
  }

  /// Appends what the quote at the current place encloses, or splits it into words of its own. False when the
  /// quote is never closed.
  bool read_quoted(ShellWord& word) {
    const char quote = script_[at_];
    std::size_t close = at_ + 1;
    while (close < end_ && script_[close] != quote)
      close += quote == '"' && script_[close] == '\\' ? 2U : 1U;
    if (close >= end_)
      return false;
    const std::string_view inside = script_.substr(at_ + 1, close - at_ - 1);
    if (holds_options(inside)) {
      keep(word);
      Splitter(script_, words_).split(at_ + 1, close);
      word = {{}, close + 1};
    } else {
      word.text += inside;
    }
    at_ = close + 1;
    return true;
  }

  /// Appends `${…}`, `$(…)` or `$((…))` as it is. False when there is none at the current place.
  bool read_enclosed(std::string& text) {
    const char open = at_ + 1 < end_ ? script_[at_ + 1] : ' ';
    if (open != '{' && open != '(')
      return false;
    const char close = open == '{' ? '}' : ')';
    int depth = 0;
    const std::size_t last = std::min(end_, at_ + kLongestExpansion);
    for (std::size_t i = at_ + 1; i < last && script_[i] != '\n'; ++i) {
      depth += script_[i] == open ? 1 : script_[i] == close ? -1 : 0;
      if (depth == 0) {
        text += script_.substr(at_, i + 1 - at_);
        at_ = i + 1;
        return true;
      }
    }
    return false;
  }

  std::string_view script_;
  std::vector<ShellWord>& words_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

} // namespace

std::vector<ShellWord> shell_words(std::string_view script) {
  std::vector<ShellWord> words;
  Splitter(script, words).split(0, script.size());
  return words;
}

} // namespace vtrain
