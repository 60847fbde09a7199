#pragma once

#include "buoy/base/file/json_file.h"

namespace buoy {

// config.json can ask for variants (ALiBi, sliding windows, quantised weights, ...) that Buoy does not
// compute. Running them anyway would give plausible, wrong numbers, so they are refused by name.
void refuse_unsupported_settings(const JsonObject& config);

}  // namespace buoy
