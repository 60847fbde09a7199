#pragma once

#include <string>

#include "buoy/app/options/shard_options.h"

namespace buoy::app {

// Runs the command in several processes of this machine, one for each card or as many as asked, under one
// line of progress: they share the samples (--steal). One that fails is taken out, and its samples go to the
// others. Then joins what they made and removes their folders, so that what is left is what one process
// leaves.
void run_processes(const ShardOptions& options, const std::string& device, const PartedCommand& command);

}  // namespace buoy::app
