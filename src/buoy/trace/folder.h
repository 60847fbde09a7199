#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy::trace {

// Work on folders with IoError in place of the standard library's errors.

std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder);  // sorted
void remove_file(const std::filesystem::path& path);  // content when there is none
void sync_folder(const std::filesystem::path& folder);

// Whether a name is "*.partial.<number>": what write_file_atomically has while it writes.
bool is_partial_file(const std::string& name);

// Removes "*.partial.<number>": what write_file_atomically leaves when it is killed.
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace buoy::trace
