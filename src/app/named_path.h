#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy::app {

// A file or folder, and what the user calls it.
struct NamedPath {
  std::string name;  // "": no name was given
  std::filesystem::path path;
};

// "PATH" or "NAME=PATH". What exists as a whole is a path; else the name ends at the first "=" behind which
// something exists, so that names and paths may hold "=" themselves; else at the first.
NamedPath split_name(const std::string& text);
std::vector<NamedPath> split_names(const std::vector<std::string>& texts);

}  // namespace buoy::app
