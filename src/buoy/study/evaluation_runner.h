#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "buoy/run/evaluation.h"
#include "buoy/run/parts/answer_parts.h"

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

// Tables, figures and scores of a run whose answers are all there, in parts or not. `when_written` is
// called behind them, before the scores are printed.
struct RunToSummarise {
  std::filesystem::path out;
  std::int64_t resamples = 2000;
  std::uint64_t seed = 0;
  const run::AnswerParts* parts = nullptr;  // where they are open already
};
void summarise_run(const RunToSummarise& run, const std::function<void()>& when_written);

}  // namespace buoy::study
