// SPDX-License-Identifier: MIT
// A reader of CSV as RFC 4180 has it, and as real traces bend it: CRLF, byte-order mark, no final newline,
// blank lines, quoted fields, blanks around fields, gzip.
#pragma once

#include "common/diagnostics.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// A CSV file in memory: a header and rows of as many fields. The text is held once; fields are views into
/// it.
class CsvTable {
public:
  /// Reads `file` (gzip is recognised by its content). A row whose number of fields differs from the header's
  /// is reported to `diagnostics` and left out. Throws IoError when the file cannot be read, InputError when
  /// it is no CSV at all: empty, only a header, HTML, a Git-LFS pointer, binary, an unclosed quote.
  static CsvTable read(const std::filesystem::path& file, Diagnostics& diagnostics);
  /// The same for text already in memory; `file` names it in messages.
  static CsvTable parse(std::string text, std::string file, Diagnostics& diagnostics);

  CsvTable(CsvTable&&) noexcept = default;
  CsvTable& operator=(CsvTable&&) noexcept = default;
  CsvTable(const CsvTable&) = delete;
  CsvTable& operator=(const CsvTable&) = delete;
  ~CsvTable() = default;

  /// Column names, trimmed, in file order.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// Index of the column called `name`, exactly.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// Where the header's field `column` stands.
  [[nodiscard]] SourceLocation header_location(std::size_t column = 0) const;

  /// Number of rows that hold as many fields as the header.
  [[nodiscard]] std::size_t row_count() const { return lines_.size(); }
  /// Number of data rows seen, those left out included.
  [[nodiscard]] std::size_t rows_read() const { return rows_read_; }
  /// The field, trimmed of blanks outside quotes, quotes resolved.
  [[nodiscard]] std::string_view field(std::size_t row, std::size_t column) const {
    return fields_[row * columns_.size() + column];
  }
  /// Line (from 1) on which the row begins.
  [[nodiscard]] std::size_t line(std::size_t row) const { return lines_[row]; }
  /// Where a field stands: file, line, and column of its first character.
  [[nodiscard]] SourceLocation location(std::size_t row, std::size_t column) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  /// SHA-256 of the bytes of the file as stored on disk (of the text for `parse`).
  [[nodiscard]] const std::string& digest() const { return digest_; }

private:
  friend class CsvParser;
  CsvTable() = default;
  std::string file_;
  std::string digest_;
  std::unique_ptr<std::string> text_; ///< the file's text; it stays in place when the table moves
  std::vector<std::string> columns_;
  std::vector<std::size_t> header_columns_; ///< character column at which each header field begins
  std::size_t header_line_ = 1;
  std::vector<std::string_view> fields_;
  std::vector<std::uint32_t> lines_;
  std::vector<std::uint64_t>
      row_offsets_; ///< offset of each row in the text, to find a field's character column
  std::size_t rows_read_ = 0;
};

/// Appends `field` to a CSV line, quoted if it holds a comma, a quote, a line break or outer blanks.
void append_csv_field(std::string& out, std::string_view field);

} // namespace vtrain
