#pragma once

#include "buoy/app/options/options.h"
#include "buoy/decode/options.h"

namespace buoy::app {

using decode::DecodeOption;
using decode::DecodeOptions;

// Every option of decode::kDecodeOptions.
void add_decode_options(Command& command, DecodeOptions& options);

}  // namespace buoy::app
