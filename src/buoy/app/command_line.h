#pragma once

#include <string>
#include <vector>

namespace buoy::app {

// The command as typed, for manifests; set once by main. Words that only say which part of a run a process
// takes are left out, so that parts are called as the whole.
void remember_command(int argc, char** argv);
const std::string& command_as_typed();
const std::vector<std::string>& words_of_command();

}  // namespace buoy::app
