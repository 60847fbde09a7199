#pragma once

#include <cstdint>
#include <filesystem>

namespace buoy {

// Bytes that files at this path may still take, whether or not it exists yet. Throws IoError.
std::uint64_t free_disk_bytes(const std::filesystem::path& path);

// Bytes of all files below a folder; 0 when there is none. Throws IoError.
std::uint64_t bytes_in_folder(const std::filesystem::path& folder);

}  // namespace buoy
