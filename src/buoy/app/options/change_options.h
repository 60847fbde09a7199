#pragma once

#include <string>
#include <vector>

#include "buoy/app/options/options.h"
#include "buoy/run/change/changes.h"

namespace buoy::app {

struct ChangeOptions {
  std::vector<std::string> heads, keys;
};

// --scale-heads and --scale-keys.
void add_change_options(Command& command, ChangeOptions& options);
run::Changes parse_changes(const ChangeOptions& options);

}  // namespace buoy::app
