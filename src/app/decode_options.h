#pragma once

#include "app/options.h"
#include "experiment/decoding.h"

namespace buoy::app {

using experiment::DecodeOptions;

void add_decode_options(Command& command, DecodeOptions& options);

}  // namespace buoy::app
