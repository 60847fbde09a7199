#pragma once

#include "buoy/app/options/options.h"
#include "buoy/run/decoding.h"

namespace buoy::app {

using run::DecodeOptions;

void add_decode_options(Command& command, DecodeOptions& options);

}  // namespace buoy::app
