#pragma once

#include <filesystem>
#include <string>

namespace buoy {

// The whole file as bytes, unpacked where it is compressed with gzip, whatever its name. IoError; InputError
// when there is none, when what comes out is larger than `limit` bytes, or when it cannot be unpacked to its
// end.
std::string read_plain_or_gzip(const std::filesystem::path& path,
                               std::uintmax_t limit = std::uintmax_t{1} << 30);

}  // namespace buoy
