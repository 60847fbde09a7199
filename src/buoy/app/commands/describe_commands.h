#pragma once

#include "buoy/app/options/options.h"
#include "buoy/base/file/json_file.h"

namespace buoy::app {

// Every command with its options and examples, for programs: shell completion, tests, docs/command-line.md.
Json describe_commands(const Command& root);

}  // namespace buoy::app
