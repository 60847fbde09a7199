#pragma once

#include <CLI/CLI.hpp>

namespace buoy::app {

// Each adds one subcommand with its options and help, and runs it when chosen.
void add_inspect(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_generate(CLI::App& app);
void add_forward(CLI::App& app);
void add_trace(CLI::App& app);
void add_export(CLI::App& app);
void add_analyze(CLI::App& app);
void add_report(CLI::App& app);
void add_world(CLI::App& app);
void add_index(CLI::App& app);
void add_search(CLI::App& app);
void add_eval(CLI::App& app);
void add_study(CLI::App& app);
void add_devices(CLI::App& app);
void add_bench(CLI::App& app);

}  // namespace buoy::app
