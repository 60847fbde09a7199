#pragma once

#include <filesystem>

namespace buoy::app {

bool is_trace(const std::filesystem::path& folder);

// Prints what a trace holds and whether every file is whole. InputError when something is wrong with it.
void inspect_trace(const std::filesystem::path& folder, bool json);

}  // namespace buoy::app
