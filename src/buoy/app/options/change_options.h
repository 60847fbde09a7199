#pragma once

#include "buoy/app/options/options.h"
#include "buoy/run/change/changes.h"

namespace buoy::app {

using ChangeOptions = run::ChangeTexts;

// --scale-heads, --scale-keys, --scale-mlp, --steer, --patch and --hide-top with its two.
void add_change_options(Command& command, ChangeOptions& options);

}  // namespace buoy::app
