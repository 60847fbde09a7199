#include "buoy/study/output_folder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/folder.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

// Without "..", links followed as far as the path exists.
fs::path resolved(const fs::path& path) {
  std::error_code failure;
  auto out = fs::weakly_canonical(fs::absolute(path), failure);
  if (failure) out = fs::absolute(path).lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool is_of_a_study(const fs::path& path) {
  constexpr std::array<std::string_view, 5> kParts = {"data", "traces", "evaluate", "report", "shards"};
  return std::find(kParts.begin(), kParts.end(), path.filename().string()) != kParts.end();
}

}  // namespace

void check_output_folder(const fs::path& folder) {
  const auto refuse = [&](const char* found) {
    throw_usage_error({"out: \"" + folder.string() + '"', "a folder for the results alone", found});
  };
  if (folder.empty()) refuse("nothing");
  const fs::path path = resolved(folder);
  if (!path.has_relative_path()) refuse("the root of all files");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0' && path == resolved(home))
    refuse("the home folder");
  if (const auto here = resolved(fs::current_path()); here != path && lies_in(here, path))
    refuse("a folder that holds the working directory");
  if (!path_exists(path)) return;
  if (!is_folder(path)) refuse("a file");
  const auto entries = trace::list_folder(path);
  if (!entries.empty() && std::none_of(entries.begin(), entries.end(), is_of_a_study))
    refuse("a folder with other files in it");
}

}  // namespace buoy::study
