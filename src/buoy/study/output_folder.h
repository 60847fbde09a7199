#pragma once

#include <filesystem>

namespace buoy::study {

// Refuses, before anything is made, a folder that nobody can mean for the results of a study: the root, the
// home folder, one that the working directory lies in, a file, or a folder that holds something else.
// UsageError.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace buoy::study
