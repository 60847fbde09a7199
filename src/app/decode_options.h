#pragma once

#include <CLI/CLI.hpp>

#include "experiment/decoding.h"

namespace buoy::app {

using experiment::DecodeOptions;

void add_decode_options(CLI::App& command, DecodeOptions& options);

}  // namespace buoy::app
