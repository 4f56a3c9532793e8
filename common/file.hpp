// SPDX-License-Identifier: MIT
// Files, whole: read at once; written under a temporary name and renamed when complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The bytes of a file, as stored on disk. Throws IoError that names the file and the reason.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

/// Whether `bytes` begin with the gzip magic number.
[[nodiscard]] bool is_gzip(std::string_view bytes);
/// The content of a gzip stream (all members). Throws InputError that names `file` when it is damaged or
/// cut off.
[[nodiscard]] std::string gunzip(std::string_view bytes, const std::filesystem::path& file);

/// Writes a file under a temporary name beside it and renames it. Throws IoError; then nothing is left.
void write_file(const std::filesystem::path& file, std::string_view bytes);

/// What tells a folder of ours from another one: a file, and a text in it.
struct FolderMarker {
  std::string file;
  std::string text; ///< empty: the file's presence is enough
};

/// A folder of results that appears whole or not at all. Files are written into a temporary sibling;
/// `commit` renames it to its final name. Without commit the destructor removes it.
///
/// An existing folder is replaced only if it holds a file of that name and with that text in it; otherwise,
/// and when anything cannot be written, IoError is thrown and what was there stays as it was.
class OutputFolder {
public:
  /// Checks that `target` may be (re)placed and creates the temporary folder, parents included.
  OutputFolder(std::filesystem::path target, FolderMarker marker);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  /// Writes `bytes` as `name` inside the folder.
  void write(const std::string& name, std::string_view bytes) const;
  /// Where files are written until commit; children (such as runs of a comparison) may be created in it.
  [[nodiscard]] const std::filesystem::path& staging() const { return staging_; }
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  /// Whether commit would replace something.
  [[nodiscard]] bool replaces() const;
  void commit();

private:
  void check_replaceable() const;
  void create_staging();
  void remove_created_parents() noexcept;

  std::filesystem::path target_; ///< as the user named it
  std::filesystem::path place_;  ///< where that leads, links followed
  std::filesystem::path staging_;
  FolderMarker marker_;
  std::vector<std::filesystem::path> created_parents_; ///< from the outermost inwards
  bool committed_ = false;
};

} // namespace vtrain
