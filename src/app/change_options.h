#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "experiment/changes.h"

namespace buoy::app {

struct ChangeOptions {
  std::vector<std::string> heads, keys;
};

// --scale-heads and --scale-keys.
void add_change_options(Command& command, ChangeOptions& options);
experiment::Changes parse_changes(const ChangeOptions& options);

}  // namespace buoy::app
