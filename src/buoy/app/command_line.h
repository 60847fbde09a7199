#pragma once

#include <string>

namespace buoy::app {

// The command as typed, for manifests; set once by main.
void remember_command(int argc, char** argv);
const std::string& command_as_typed();

}  // namespace buoy::app
