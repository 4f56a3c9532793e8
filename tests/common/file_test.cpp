// SPDX-License-Identifier: MIT
#include "common/diagnostics.hpp"
#include "common/file.hpp"
#include "temporary_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace vtrain;
using vtrain_test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {
/// No file of this process may grow beyond `bytes`: a write error on demand, like a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }

private:
  void (*handler_)(int);
  rlimit before_{};
};

template <class Action> std::string io_error(Action action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "no error";
}
} // namespace

TEST_CASE("a file is read as it was written") {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  write_file(folder / "f", bytes);
  CHECK(read_file(folder / "f") == bytes);
  write_file(folder / "f", "");
  CHECK(read_file(folder / "f").empty());
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("large files and files that do not know their size are read whole") {
  const TemporaryFolder folder;
  const std::string bytes(3'000'001, 'x');
  write_file(folder / "f", bytes);
  CHECK(read_file(folder / "f") == bytes);
  CHECK(read_file("/proc/self/status").find("VmSize") != std::string::npos);
}

TEST_CASE("what cannot be read is named with the reason") {
  const TemporaryFolder folder;
  CHECK(io_error([&] { (void)read_file("no/such.csv"); }) ==
        "cannot read no/such.csv: No such file or directory");
  CHECK(io_error([&] { (void)read_file(folder.path()); }).ends_with(": Is a directory"));
  if (::geteuid() != 0) { // root reads everything
    write_file(folder / "secret", "x");
    fs::permissions(folder / "secret", fs::perms::none);
    CHECK(io_error([&] { (void)read_file(folder / "secret"); }).ends_with(": Permission denied"));
  }
}

TEST_CASE("a written file replaces the old one and keeps its permissions") {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  ::chmod((folder / "f").c_str(), 0640);
  write_file(folder / "f", "new");
  CHECK(read_file(folder / "f") == "new");
  CHECK((fs::status(folder / "f").permissions() & fs::perms::mask) == fs::perms(0640));
}

TEST_CASE("a file that cannot be written whole leaves the old one and nothing else") {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  {
    const FileSizeLimit limit(10);
    CHECK(io_error([&] { write_file(folder / "f", "longer than ten bytes"); }) ==
          "cannot write " + (folder / "f").string() + ": File too large");
  }
  CHECK(read_file(folder / "f") == "old");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a full disk is reported") {
  CHECK(io_error([] { write_file("/dev/full", "x"); }) == "cannot write /dev/full: No space left on device");
}

TEST_CASE("a device is written to, not replaced") {
  CHECK_NOTHROW(write_file("/dev/null", "x"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a link to a file stays a link") {
  const TemporaryFolder folder;
  write_file(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "real") == "new");
}

TEST_CASE("a place that cannot be written is named with the reason") {
  const TemporaryFolder folder;
  CHECK(io_error([&] { write_file(folder / "none/f", "x"); }) ==
        "cannot write " + (folder / "none/f").string() + ": No such file or directory");
  CHECK(io_error([&] { write_file(folder.path(), "x"); }).ends_with(": Is a directory"));
}

TEST_CASE("a folder of results appears on commit") {
  const TemporaryFolder folder;
  OutputFolder output(folder / "out", {"manifest.json", ""});
  output.write("manifest.json", "{}");
  output.write("runs/fifo/jobs.csv", "job_id\n");
  CHECK_FALSE(fs::exists(folder / "out"));
  CHECK(fs::exists(output.staging() / "manifest.json"));
  output.commit();
  CHECK(read_file(folder / "out/runs/fifo/jobs.csv") == "job_id\n");
  CHECK(folder.entry_count() == 1);
  CHECK(output.target() == folder / "out");
}

TEST_CASE("without commit nothing is left, parents included") {
  const TemporaryFolder folder;
  {
    OutputFolder output(folder / "a/b/out", {"manifest.json", ""});
    output.write("manifest.json", "{}");
  }
  CHECK(folder.entry_count() == 0);
}

TEST_CASE("parents are made on the way and a trailing slash is no matter") {
  const TemporaryFolder folder;
  OutputFolder output(folder / "a/b/out/", {"manifest.json", ""});
  output.write("manifest.json", "{}");
  output.commit();
  CHECK(fs::exists(folder / "a/b/out/manifest.json"));
}

TEST_CASE("a folder of ours is replaced whole") {
  const TemporaryFolder folder;
  for (const char* name : {"first", "second"}) {
    OutputFolder output(folder / "out", {"manifest.json", ""});
    output.write("manifest.json", name);
    output.write(name, "x");
    output.commit();
  }
  CHECK(read_file(folder / "out/manifest.json") == "second");
  CHECK_FALSE(fs::exists(folder / "out/first"));
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("an empty folder is replaced") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  OutputFolder output(folder / "out", {"manifest.json", ""});
  output.write("manifest.json", "{}");
  output.commit();
  CHECK(fs::exists(folder / "out/manifest.json"));
}

TEST_CASE("a folder that is not ours is refused and left as it was") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  write_file(folder / "out/thesis.tex", "precious");
  CHECK(io_error([&] {
          const OutputFolder output(folder / "out", {"manifest.json", ""});
        }) == (folder / "out").string() +
                  " exists and holds no manifest.json of ours; choose another folder with -o or remove it");
  CHECK(read_file(folder / "out/thesis.tex") == "precious");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a folder that became somebody else's before commit is left as it is") {
  const TemporaryFolder folder;
  {
    OutputFolder output(folder / "out", {"manifest.json", ""});
    output.write("manifest.json", "{}");
    fs::create_directory(folder / "out");
    write_file(folder / "out/thesis.tex", "precious");
    CHECK_THROWS_AS(output.commit(), IoError);
  }
  CHECK(read_file(folder / "out/thesis.tex") == "precious");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a file where the folder should be is refused") {
  const TemporaryFolder folder;
  write_file(folder / "out", "x");
  CHECK(io_error([&] {
          const OutputFolder output(folder / "out", {"manifest.json", ""});
        }).find("is not a folder") != std::string::npos);
  CHECK(io_error([&] {
          const OutputFolder output(folder / "out/sub", {"manifest.json", ""});
        }).find("Not a directory") != std::string::npos);
  CHECK(read_file(folder / "out") == "x");
}

TEST_CASE("the current folder and the root are refused as targets") {
  for (const std::string target : {".", "..", "./", "/", ""}) {
    CAPTURE(target);
    CHECK(io_error([&] {
            const OutputFolder output(target, {"manifest.json", ""});
          }).starts_with("cannot write"));
  }
}

TEST_CASE("a failed write leaves the old folder and removes the new one") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  write_file(folder / "out/manifest.json", "old");
  {
    OutputFolder output(folder / "out", {"manifest.json", ""});
    const FileSizeLimit limit(10);
    CHECK(io_error([&] { output.write("jobs.csv", "longer than ten bytes"); }) ==
          "cannot write " + (folder / "out/jobs.csv").string() + ": File too large");
  }
  CHECK(read_file(folder / "out/manifest.json") == "old");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a link to a folder of results is followed") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  write_file(folder / "real/manifest.json", "old");
  fs::create_symlink("real", folder / "link");
  OutputFolder output(folder / "link", {"manifest.json", ""});
  output.write("manifest.json", "new");
  output.commit();
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "real/manifest.json") == "new");
}

TEST_CASE("two folders may be staged for one place and the last commit stays") {
  const TemporaryFolder folder;
  OutputFolder first(folder / "out", {"manifest.json", ""});
  OutputFolder second(folder / "out", {"manifest.json", ""});
  CHECK(first.staging() != second.staging());
  first.write("manifest.json", "first");
  second.write("manifest.json", "second");
  first.commit();
  second.commit();
  CHECK(read_file(folder / "out/manifest.json") == "second");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("a folder whose marker is another program's is not ours") {
  const vtrain_test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "web");
  vtrain::write_file(folder / "web" / "manifest.json", "{\"name\": \"a web page\"}");
  vtrain::write_file(folder / "web" / "thesis.txt", "words");
  CHECK_THROWS_AS(vtrain::OutputFolder(folder / "web", {"manifest.json", "ours"}), vtrain::IoError);
  CHECK(vtrain::read_file(folder / "web" / "thesis.txt") == "words");
  vtrain::write_file(folder / "web" / "manifest.json", "this one is ours");
  CHECK(vtrain::OutputFolder(folder / "web", {"manifest.json", "ours"}).replaces());
  CHECK_FALSE(vtrain::OutputFolder(folder / "new", {"manifest.json", "ours"}).replaces());
}
