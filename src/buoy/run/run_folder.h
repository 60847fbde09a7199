#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/run/answer_file.h"
#include "buoy/run/identity.h"
#include "buoy/run/parts/answer_part.h"

namespace buoy::run {

// Reads every item once, so that a bad line is known before any model is loaded.
DataFacts scan_data(const NamedPath& data, const questions::ReadOptions& options);

// Makes the run in the folder ours: nobody else writes to it while the answers are open. A new folder gets
// run.json; one that has it must hold the same run, and then `resume` must be set. What a killed run left
// half written is no run and no obstacle. UsageError while another process writes to the run.
AnswerFile open_run_folder(const std::filesystem::path& folder, const nlohmann::json& description,
                           bool resume);
// The same of one part of a run; it goes on with what is there.
AnswerPart open_part_folder(const std::filesystem::path& folder, const nlohmann::json& description,
                            const AnswerPart::NumberOf& number_of);
// InputError that names the first setting in which `file` differs from what is asked.
void require_same_description(const std::filesystem::path& file, const nlohmann::json& asked);

}  // namespace buoy::run
