#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace buoy {

// The whole file as bytes. Throws IoError; InputError when it is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{1} << 30);

// Writes beside the target, syncs, then renames: readers see the old file or the whole new one.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace buoy
