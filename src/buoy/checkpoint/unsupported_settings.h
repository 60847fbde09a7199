#pragma once

#include <string_view>

#include "buoy/base/file/json_file.h"

namespace buoy {

// config.json can ask for variants (ALiBi, sliding windows, quantised weights, ...) that Buoy does not
// compute. Running them anyway would give plausible, wrong numbers, so they are refused by name.
void refuse_unsupported_settings(const JsonObject& config);

// Architectures that people will try and that no loop of Buoy can decode: refused with the reason.
void refuse_unsupported_architecture(const JsonObject& config, std::string_view architecture);

}  // namespace buoy
