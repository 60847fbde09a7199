#pragma once

#include <filesystem>

#include "experiment/evaluation.h"

namespace buoy::app {

struct EvaluationCall {
  experiment::EvaluationSpec spec;
  std::filesystem::path out;
  bool resume = false;
  std::size_t resamples = 2000;
};

// Runs with a line of progress, writes summaries, tables and figures, and prints the scores, what failed and
// why. InputError, after all that, when there is no answer at all.
void run_and_summarise(const EvaluationCall& call);

}  // namespace buoy::app
