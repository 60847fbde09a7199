#pragma once

#include "buoy/app/options/options.h"

namespace buoy::app {

// Each adds one subcommand with its options and help, and runs it when chosen.
void add_inspect(Command& app);
void add_tokenize(Command& app);
void add_generate(Command& app);
void add_forward(Command& app);
void add_trace(Command& app);
void add_watch(Command& app);
void add_compact(Command& app);
void add_export(Command& app);
void add_analyze(Command& app);
void add_report(Command& app);
void add_world(Command& app);
void add_haystack(Command& app);
void add_index(Command& app);
void add_search(Command& app);
void add_eval(Command& app);
void add_score(Command& app);
void add_study(Command& app);
void add_merge(Command& app);
void add_status(Command& app);
void add_devices(Command& app);
void add_bench(Command& app);

}  // namespace buoy::app
