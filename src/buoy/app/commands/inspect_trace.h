#pragma once

#include <filesystem>

namespace buoy::app {

// Whether a folder holds the manifest of a trace.
bool is_trace(const std::filesystem::path& folder);

// Prints what a trace holds, whether it is complete, under way or stopped, and whether every file is whole.
// InputError when something is wrong with it.
void inspect_trace(const std::filesystem::path& folder, bool json);

// Prints what one file of samples/ holds; where it lies in a trace, after checking it against the manifest.
void inspect_sample(const std::filesystem::path& file, bool json);

}  // namespace buoy::app
