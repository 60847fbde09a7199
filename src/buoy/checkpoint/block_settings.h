#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"

namespace buoy {

// Block length and mask token of the families that decode blocks; refuses settings of their derivatives that
// would be computed wrongly. The rest of the config has been read.
void read_block_settings(const JsonObject& config, ModelConfig& out);

}  // namespace buoy
