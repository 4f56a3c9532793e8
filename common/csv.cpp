// SPDX-License-Identifier: MIT
#include "common/csv.hpp"

#include "common/assert.hpp"
#include "common/file.hpp"
#include "common/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace vtrain {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

std::string_view trimmed(const char* begin, const char* end) {
  while (begin != end && is_blank(*begin))
    ++begin;
  while (begin != end && is_blank(end[-1]))
    --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// memchr that answers `end` when there is none.
char* find(char* begin, char* end, char letter) {
  void* const at = begin == end ? nullptr : std::memchr(begin, letter, static_cast<std::size_t>(end - begin));
  return at == nullptr ? end : static_cast<char*>(at);
}

std::string counted_fields(std::size_t count) {
  return fmt::format("{} field{}", count, count == 1 ? "" : "s");
}

/// Refuses what people feed to a CSV reader by mistake.
void refuse_other_formats(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw InputError({file, 0, 0}, "the file is empty");
  if (text.starts_with("version https://git-lfs"))
    throw InputError({file, 1, 1}, "this is a Git-LFS pointer, not the data", "`git lfs pull` gets the data");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError({file, 0, 0}, "this is UTF-16 text", "save it as UTF-8");
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos)
    throw InputError(
        {file,
         1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + std::ptrdiff_t(nul), '\n')), 0},
        "this is a binary file, not CSV: it holds a NUL byte");
  if (text[first] == '<')
    throw InputError({file, 1, 1},
                     "this is an HTML page, not a CSV file; was it downloaded from a web page?");
}

} // namespace

/// Splits the text of a table into records and fields. Quotes are resolved in place, so a field is always a
/// view into the text.
class CsvParser {
public:
  CsvParser(CsvTable& table, Diagnostics& diagnostics)
      : table_(table),
        diagnostics_(diagnostics),
        at_(table.text_->data()),
        end_(table.text_->data() + table.text_->size()) {}

  void run() {
    if (table_.text_->starts_with(kByteOrderMark))
      at_ += kByteOrderMark.size();
    refuse_other_formats({at_, static_cast<std::size_t>(end_ - at_)}, table_.file_);
    quote_ = find(at_, end_, '"');
    if (next_record())
      take_header();
    reserve();
    while (next_record())
      take_row();
    if (table_.rows_read_ == 0 && !malformed_header_)
      throw InputError({table_.file_, table_.header_line_, 0}, "no rows after the header");
  }

private:
  /// Appends the fields of the next record to the table's; false at the end. Blank lines are no records.
  bool next_record() {
    while (at_ != end_) {
      record_ = at_;
      record_line_ = line_;
      malformed_ = false;
      char* const newline = find(at_, end_, '\n');
      if (quote_ < newline) {
        split_with_quotes();
        return true;
      }
      ++line_;
      at_ = newline == end_ ? end_ : newline + 1;
      const char* stop = newline;
      if (stop != record_ && stop[-1] == '\r')
        --stop;
      if (trimmed(record_, stop).empty())
        continue;
      split_plain(record_, stop);
      return true;
    }
    return false;
  }

  void split_plain(const char* begin, const char* stop) {
    for (;;) {
      const char* end = begin;
      while (end != stop && *end != ',')
        ++end;
      table_.fields_.push_back(trimmed(begin, end));
      if (end == stop)
        return;
      begin = end + 1;
    }
  }

  void split_with_quotes() {
    for (;;) {
      while (at_ != end_ && is_blank(*at_))
        ++at_;
      if (at_ != end_ && *at_ == '"')
        quoted_field();
      else
        plain_field();
      if (at_ == end_)
        break;
      const char separator = *at_++;
      if (separator == '\n') {
        ++line_;
        break;
      }
    }
    if (quote_ < at_)
      quote_ = find(at_, end_, '"');
  }

  /// One field without quotes; stops on the comma or line end after it.
  void plain_field() {
    char* const begin = at_;
    skip_to_separator();
    const bool ends_line = at_ == end_ || *at_ == '\n';
    const char* const stop = ends_line && at_ != begin && at_[-1] == '\r' ? at_ - 1 : at_;
    table_.fields_.push_back(trimmed(begin, stop));
  }

  /// One field in quotes; stops on the comma or line end after it.
  void quoted_field() {
    const std::size_t opening_line = line_;
    char* const begin = ++at_;
    char* write = begin;
    for (;;) {
      char* const quote = find(at_, end_, '"');
      if (quote == end_)
        throw InputError({table_.file_, opening_line, column_of(begin - 1)},
                         "a quote opens here and is never closed");
      const auto length = static_cast<std::size_t>(quote - at_);
      if (write != at_)
        std::memmove(write, at_, length);
      write += length;
      at_ = quote + 1;
      if (at_ == end_ || *at_ != '"')
        break;
      *write++ = '"';
      ++at_;
    }
    table_.fields_.emplace_back(begin, static_cast<std::size_t>(write - begin));
    std::fill(write, at_ - 1, ' '); // what moved must not count as line ends when a place is asked for
    line_ += static_cast<std::size_t>(std::count(begin, write, '\n'));
    const char* const after = at_;
    skip_to_separator();
    const std::string_view rest = trimmed(after, at_);
    if (!rest.empty() && rest != "\r") {
      malformed_ = true;
      diagnostics_.error({table_.file_, line_, column_of(rest.data())},
                         "text after the closing quote of a field",
                         "write a quote inside a quoted field twice");
    }
  }

  void skip_to_separator() {
    while (at_ != end_ && *at_ != ',' && *at_ != '\n')
      ++at_;
  }

  [[nodiscard]] std::size_t column_of(const char* place) const {
    const char* begin = place;
    while (begin != record_ && begin[-1] != '\n')
      --begin;
    return static_cast<std::size_t>(place - begin) + 1;
  }

  void take_header() {
    table_.header_line_ = record_line_;
    malformed_header_ = malformed_;
    std::unordered_set<std::string_view> seen;
    for (const std::string_view name : table_.fields_) {
      const SourceLocation where{table_.file_, record_line_, column_of(name.data())};
      if (name.empty())
        diagnostics_.error(where, fmt::format("column {} has no name", table_.columns_.size() + 1));
      else if (!seen.insert(name).second)
        diagnostics_.error(where, fmt::format("the column '{}' is there twice", name));
      table_.columns_.emplace_back(name);
      table_.header_columns_.push_back(where.column);
    }
    table_.fields_.clear();
  }

  /// Room for as many rows as there are line ends, so that nothing is copied while the table grows.
  void reserve() {
    const auto rows = static_cast<std::size_t>(std::count(at_, end_, '\n')) + 1;
    table_.fields_.reserve(rows * table_.columns_.size());
    table_.lines_.reserve(rows);
    table_.row_offsets_.reserve(rows);
  }

  void take_row() {
    ++table_.rows_read_;
    const std::size_t before = table_.lines_.size() * table_.columns_.size();
    const std::size_t count = table_.fields_.size() - before;
    if (count == table_.columns_.size() && !malformed_) {
      table_.lines_.push_back(static_cast<std::uint32_t>(record_line_));
      table_.row_offsets_.push_back(static_cast<std::uint64_t>(record_ - table_.text_->data()));
      return;
    }
    if (count != table_.columns_.size()) {
      const std::size_t surplus = std::min(count - 1, table_.columns_.size());
      diagnostics_.error(
          {table_.file_, record_line_, column_of(table_.fields_[before + surplus].data())},
          fmt::format("row has {}, the header has {}", counted_fields(count), table_.columns_.size()));
    }
    table_.fields_.resize(before);
  }

  CsvTable& table_;
  Diagnostics& diagnostics_;
  char* at_;                 ///< what is read next
  char* const end_;          ///< one past the last character
  char* quote_ = nullptr;    ///< the first quote at or after the record, `end_` if none
  const char* record_ = at_; ///< where the current record begins
  std::size_t line_ = 1;     ///< line of `at_`
  std::size_t record_line_ = 1;
  bool malformed_ = false;
  bool malformed_header_ = false;
};

CsvTable CsvTable::read(const std::filesystem::path& file, Diagnostics& diagnostics) {
  std::string bytes = read_file(file);
  std::string digest = sha256(bytes);
  if (is_gzip(bytes))
    bytes = gunzip(bytes, file);
  CsvTable table;
  table.file_ = file.string();
  table.digest_ = std::move(digest);
  table.text_ = std::make_unique<std::string>(std::move(bytes));
  CsvParser(table, diagnostics).run();
  return table;
}

CsvTable CsvTable::parse(std::string text, std::string file, Diagnostics& diagnostics) {
  CsvTable table;
  table.file_ = std::move(file);
  table.digest_ = sha256(text);
  table.text_ = std::make_unique<std::string>(std::move(text));
  CsvParser(table, diagnostics).run();
  return table;
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto at = std::find(columns_.begin(), columns_.end(), name);
  return at == columns_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - columns_.begin()));
}

SourceLocation CsvTable::header_location(std::size_t column) const {
  VTRAIN_ASSERT(column < header_columns_.size(), "no such column");
  return {file_, header_line_, header_columns_[column]};
}

SourceLocation CsvTable::location(std::size_t row, std::size_t column) const {
  VTRAIN_ASSERT(row < lines_.size() && column < columns_.size(), "no such field");
  const char* const record = text_->data() + row_offsets_[row];
  const char* const place = field(row, column).data();
  // A quoted field before this one may hold line ends.
  const auto line_ends = static_cast<std::size_t>(std::count(record, place, '\n'));
  const char* begin = place;
  while (begin != record && begin[-1] != '\n')
    --begin;
  return {file_, lines_[row] + line_ends, static_cast<std::size_t>(place - begin) + 1};
}

void append_csv_field(std::string& out, std::string_view field) {
  const bool outer_blank = !field.empty() && (is_blank(field.front()) || is_blank(field.back()));
  if (!outer_blank && field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char letter : field) {
    if (letter == '"')
      out += '"';
    out += letter;
  }
  out += '"';
}

} // namespace vtrain
