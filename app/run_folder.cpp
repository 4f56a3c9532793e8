// SPDX-License-Identifier: MIT
#include "app/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace vtrain {
namespace {

constexpr const char* kJobsName = "jobs.csv";

/// Names of the runs right below a folder, in alphabetical order.
std::vector<std::string> runs_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (std::filesystem::exists(entry.path() / kJobsName, error))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string hint_for(const std::filesystem::path& folder) {
  const std::vector<std::string> runs = runs_in(folder);
  if (runs.empty())
    return "name the folder that 'vtrain simulate' wrote, such as out/NAME";
  constexpr std::size_t kMostListed = 12;
  std::string list;
  for (std::size_t i = 0; i < std::min(runs.size(), kMostListed); ++i)
    list += (i == 0 ? "" : ", ") + (folder / runs[i]).string();
  return fmt::format("it holds several runs; name one of them: {}{}", list,
                     runs.size() > kMostListed ? ", …" : "");
}

} // namespace

CsvTable read_jobs(const std::filesystem::path& folder, Diagnostics& diagnostics) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error))
    throw InputError({folder.string(), 0, 0}, "there is no such folder", hint_for(folder));
  if (!std::filesystem::is_directory(folder, error))
    throw InputError({folder.string(), 0, 0}, "this is a file, not the folder of a run",
                     hint_for(folder.parent_path()));
  const std::filesystem::path file = folder / kJobsName;
  if (!std::filesystem::exists(file, error))
    throw InputError({folder.string(), 0, 0}, fmt::format("this folder holds no {}", kJobsName),
                     hint_for(folder));
  return CsvTable::read(file, diagnostics);
}

} // namespace vtrain
