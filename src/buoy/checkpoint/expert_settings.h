#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"

namespace buoy {

// The experts of families that have them, and the width of their dense layers, into `out`; refuses routers
// that Buoy would compute wrongly. `out.layers` and `out.head_dim` are known.
void read_expert_settings(const JsonObject& config, ModelConfig& out);

}  // namespace buoy
