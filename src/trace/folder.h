#pragma once

#include <filesystem>
#include <vector>

namespace buoy::trace {

// Work on folders with IoError in place of the standard library's errors.

std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder);  // sorted
void remove_file(const std::filesystem::path& path);  // content when there is none
void sync_folder(const std::filesystem::path& folder);

// Removes "*.partial.<number>": what write_file_atomically leaves when it is killed.
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace buoy::trace
