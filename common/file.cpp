// SPDX-License-Identifier: MIT
#include "common/file.hpp"

#include "common/assert.hpp"
#include "common/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace vtrain {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLargestTransfer = std::size_t{1} << 30; // Linux moves at most 2 GiB at once

[[noreturn]] void fail(const char* verb, const fs::path& file, int error) {
  throw IoError(fmt::format("cannot {} {}: {}", verb, file.string(), std::generic_category().message(error)));
}

/// An open file that closes itself.
class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  /// Closes and returns 0 or the error: some file systems report a full disk only here.
  [[nodiscard]] int close() { return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

private:
  int number_;
};

/// Writes everything to the file and closes it; 0 or the error.
[[nodiscard]] int write_and_close(Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), std::min(bytes.size(), kLargestTransfer));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return file.close();
}

/// A hidden name beside `place`, on the same file system, that two processes do not share.
fs::path beside(const fs::path& place, const char* purpose) {
  const std::string name = fmt::format(".{}.{}-{}", place.filename().string(), purpose, ::getpid());
  fs::path candidate = place.parent_path() / name;
  std::error_code ignored;
  for (int n = 2; fs::exists(fs::symlink_status(candidate, ignored)); ++n)
    candidate = place.parent_path() / fmt::format("{}-{}", name, n);
  return candidate;
}

/// Where a path leads: links are followed, so that a link to a folder of results stays one.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    fs::path real = fs::canonical(path, error);
    if (!error)
      return real;
  }
  return path;
}

} // namespace

std::string read_file(const fs::path& file) {
  Descriptor input(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.number() < 0)
    fail("read", file, errno);
  struct stat status {};
  if (::fstat(input.number(), &status) != 0)
    fail("read", file, errno);
  constexpr std::size_t kSmallest = 4096; // pipes and /proc say size 0
  std::string bytes(std::max(kSmallest, static_cast<std::size_t>(status.st_size) + 1), '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size())
      bytes.resize(bytes.size() * 2);
    const ssize_t got =
        ::read(input.number(), bytes.data() + size, std::min(bytes.size() - size, kLargestTransfer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail("read", file, errno);
    if (got == 0)
      break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

void write_file(const fs::path& file, std::string_view bytes) {
  const fs::path place = resolved(file);
  struct stat old {};
  const bool exists = ::stat(place.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    fail("write", file, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) { // /dev/stdout, a pipe: renaming over it would be wrong
    Descriptor output(::open(place.c_str(), O_WRONLY | O_CLOEXEC));
    const int error = output.number() < 0 ? errno : write_and_close(output, bytes);
    if (error != 0)
      fail("write", file, error);
    return;
  }
  const fs::path temporary = beside(place, "tmp");
  Descriptor output(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (output.number() < 0)
    fail("write", file, errno);
  int error = exists && ::fchmod(output.number(), old.st_mode & 07777U) != 0 ? errno : 0;
  if (error == 0)
    error = write_and_close(output, bytes);
  if (error == 0 && ::rename(temporary.c_str(), place.c_str()) != 0)
    error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail("write", file, error);
  }
}

OutputFolder::OutputFolder(fs::path target, FolderMarker marker)
    : target_(std::move(target)), marker_(std::move(marker)) {
  fs::path named = target_;
  if (named.filename().empty()) // "out/"
    named = named.parent_path();
  if (named.filename().empty() || named.filename() == "." || named.filename() == "..")
    throw IoError(fmt::format("cannot write {}: name a folder that may be replaced", target_.string()));
  place_ = resolved(named);
  check_replaceable();
  try {
    create_staging();
  } catch (...) {
    remove_created_parents();
    throw;
  }
}

void OutputFolder::check_replaceable() const {
  std::error_code error;
  const fs::file_status status = fs::status(place_, error);
  if (status.type() == fs::file_type::not_found)
    return;
  if (error)
    fail("write", target_, error.value());
  if (!fs::is_directory(status))
    throw IoError(fmt::format("{} exists and is not a folder; choose another folder with -o or remove it",
                              target_.string()));
  if (fs::exists(place_ / marker_.file, error) &&
      read_file(place_ / marker_.file).find(marker_.text) != std::string::npos)
    return;
  const bool empty = fs::is_empty(place_, error);
  if (error)
    fail("write", target_, error.value());
  if (!empty)
    throw IoError(fmt::format("{} exists and holds no {} of ours; choose another folder with -o or remove it",
                              target_.string(), marker_.file));
}

void OutputFolder::create_staging() {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path parent = place_.parent_path(); !parent.empty() && !fs::exists(parent, ignored);
       parent = parent.parent_path())
    missing.push_back(parent);
  for (auto parent = missing.rbegin(); parent != missing.rend(); ++parent) {
    if (::mkdir(parent->c_str(), 0777) == 0)
      created_parents_.push_back(*parent);
    else if (errno != EEXIST)
      fail("write", target_, errno);
  }
  fs::path candidate = beside(place_, "tmp");
  if (::mkdir(candidate.c_str(), 0777) != 0)
    fail("write", target_, errno);
  staging_ = std::move(candidate);
}

void OutputFolder::remove_created_parents() noexcept {
  for (auto parent = created_parents_.rbegin(); parent != created_parents_.rend(); ++parent)
    ::rmdir(parent->c_str()); // stays if somebody else put something there
  created_parents_.clear();
}

OutputFolder::~OutputFolder() {
  if (committed_)
    return;
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
  remove_created_parents();
}

void OutputFolder::write(const std::string& name, std::string_view bytes) const {
  const fs::path file = staging_ / name;
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed)
    fail("write", target_ / name, failed.value());
  // The whole folder is temporary, so the file needs no temporary name of its own.
  Descriptor output(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const int error = output.number() < 0 ? errno : write_and_close(output, bytes);
  if (error != 0)
    fail("write", target_ / name, error);
}

bool OutputFolder::replaces() const {
  std::error_code ignored;
  return fs::exists(place_, ignored) && !fs::is_empty(place_, ignored);
}

void OutputFolder::commit() {
  VTRAIN_ASSERT(!committed_, "a folder of results is committed once");
  check_replaceable();
  std::error_code ignored;
  if (::rename(staging_.c_str(), place_.c_str()) == 0) { // nothing there, or an empty folder
    committed_ = true;
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST)
    fail("write", target_, errno);
  if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) == 0) {
    committed_ = true;
    fs::remove_all(staging_, ignored); // holds the old folder now
    return;
  }
  // This file system cannot exchange; for a moment nothing stands at the place.
  const fs::path old = beside(place_, "old");
  if (::rename(place_.c_str(), old.c_str()) != 0)
    fail("write", target_, errno);
  if (::rename(staging_.c_str(), place_.c_str()) != 0) {
    const int error = errno;
    ::rename(old.c_str(), place_.c_str());
    fail("write", target_, error);
  }
  committed_ = true;
  fs::remove_all(old, ignored);
}

} // namespace vtrain
