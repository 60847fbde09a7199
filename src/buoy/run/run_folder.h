#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/run/answer_file.h"
#include "buoy/run/evaluation.h"

namespace buoy::run {

struct DataFacts {
  std::size_t items = 0;
  std::size_t with_passages = 0;
  std::string sha256;
};

// Reads every item once, so that a bad line is known before any model is loaded.
DataFacts scan_data(const NamedPath& data, const questions::ReadOptions& options);

// run.json: what was asked, of whom, how. Two runs with equal descriptions give equal answers.
nlohmann::json describe_evaluation(const EvaluationSpec& spec, const std::vector<DataFacts>& data);

// Makes the run in the folder ours: nobody else writes to it while the answers are open. A new folder gets
// run.json; one that has it must hold the same run, and then `resume` must be set. What a killed run left
// half written is no run and no obstacle. UsageError while another process writes to the run.
AnswerFile open_run_folder(const std::filesystem::path& folder, const nlohmann::json& description,
                           bool resume);

}  // namespace buoy::run
