#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace buoy {

// The whole file as bytes. Throws IoError; InputError when it is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{1} << 30);

// Whether there is anything at the path, and whether it is a folder. Throws IoError where the standard
// library would throw an error of its own: links that lead to themselves, names that are too long.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// Writes beside the target, syncs, then renames: readers see the old file or the whole new one.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace buoy
