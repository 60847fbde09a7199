#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy {

// A file or folder, and the name it has in results.
struct NamedPath {
  std::string name;  // "": no name was given
  std::filesystem::path path;
};

// "PATH" or "NAME=PATH". What exists as a whole is a path; else the name ends at the first "=" behind which
// something exists, so that names and paths may hold "=" themselves; else at the first.
NamedPath split_name(const std::string& text);
std::vector<NamedPath> split_names(const std::vector<std::string>& texts);

// "NAME=PATH", or a path that is named after its file or folder; endings such as .jsonl.gz are left out.
NamedPath parse_named(const std::string& text);

}  // namespace buoy
