#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"

namespace buoy {

// The numbers of YaRN in `rope_scaling` or `rope_parameters`; refuses those that no frequencies follow from.
// `context` stands in for a factor that is null.
YarnRopeScaling read_yarn(const JsonObject& scaling, double theta, std::int64_t context);

}  // namespace buoy
