#pragma once

#include "app/options.h"
#include "base/json_file.h"

namespace buoy::app {

// Every command with its options and examples, for programs: shell completion, tests, docs/command-line.md.
Json describe_commands(const Command& root);

}  // namespace buoy::app
