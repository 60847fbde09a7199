#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/run/answer_file.h"
#include "buoy/run/identity.h"

namespace buoy::run {

// Reads every item once, so that a bad line is known before any model is loaded.
DataFacts scan_data(const NamedPath& data, const questions::ReadOptions& options);

// Makes the run in the folder ours: nobody else writes to it while the answers are open. A new folder gets
// run.json; one that has it must hold the same run, and then `resume` must be set. What a killed run left
// half written is no run and no obstacle. UsageError while another process writes to the run.
AnswerFile open_run_folder(const std::filesystem::path& folder, const nlohmann::json& description,
                           bool resume);

}  // namespace buoy::run
