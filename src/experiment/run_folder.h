#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/evaluation.h"

namespace buoy::experiment {

struct DataFacts {
  std::size_t items = 0;
  std::size_t with_passages = 0;
  std::string sha256;
};

// Reads every item once, so that a bad line is known before any model is loaded.
DataFacts scan_data(const Named& data, const evaluate::ReadOptions& options);

// run.json: what was asked, of whom, how. Two runs with equal descriptions give equal answers.
nlohmann::json describe_evaluation(const EvaluationSpec& spec, const std::vector<DataFacts>& data);

// A new folder gets run.json; one that has it must hold the same run, and then `resume` must be set.
void open_run_folder(const std::filesystem::path& folder, const nlohmann::json& description, bool resume);

}  // namespace buoy::experiment
