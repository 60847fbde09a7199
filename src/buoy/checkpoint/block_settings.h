#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"

namespace buoy {

// Block length and mask token of the families that decode blocks; refuses settings of their derivatives that
// would be computed wrongly. The rest of the config has been read.
void read_block_settings(const JsonObject& config, ModelConfig& out);

// The mask token of the publisher's models where the file names none. Beyond a small vocabulary there is no
// such token: whoever decodes has to name one.
void read_published_mask(ModelConfig& out);

}  // namespace buoy
