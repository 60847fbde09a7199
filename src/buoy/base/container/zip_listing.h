#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace buoy {

// The names of the files in a zip file, in the order of its directory. InputError for bytes that are no zip
// file or a torn one; `name` is the file named in errors.
std::vector<std::string> zip_names(std::span<const std::byte> bytes, const std::string& name);

}  // namespace buoy
