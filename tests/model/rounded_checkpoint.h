#pragma once

#include <filesystem>

namespace buoy::testing {

// Writes the golden checkpoint `from` to `to` with every weight rounded to bf16: what the GPU makes of it
// when it is loaded.
void write_rounded_checkpoint(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace buoy::testing
