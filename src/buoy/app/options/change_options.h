#pragma once

#include <string>

#include "buoy/app/options/options.h"
#include "buoy/run/change/changes.h"

namespace buoy::app {

using ChangeOptions = run::ChangeTexts;

// --scale-heads, --scale-keys, --scale-mlp, --steer, --patch and --hide-top with its two.
Option* add_top_of_option(Command& command, std::string& of);
Option* add_hide_control_option(Command& command, std::string& control);
void add_change_options(Command& command, ChangeOptions& options);

}  // namespace buoy::app
