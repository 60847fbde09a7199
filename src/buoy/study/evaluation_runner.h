#pragma once

#include <filesystem>

#include "buoy/run/evaluation.h"

namespace buoy::study {

struct EvaluationCall {
  run::EvaluationSpec spec;
  std::filesystem::path out;
  bool resume = false;
  std::int64_t resamples = 2000;
  Stopwatch* clock = nullptr;  // told of loading, decoding and writing; may be null
};

// Runs with a line of progress, writes summaries, tables and figures, and prints the scores, what failed and
// why. InputError, after all that, when there is no answer at all.
void run_and_summarise(const EvaluationCall& call);

}  // namespace buoy::study
