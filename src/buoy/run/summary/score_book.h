#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/score/metrics.h"
#include "buoy/result/table_schema.h"
#include "buoy/run/answer_record.h"

namespace buoy::run {

class AnswerParts;

inline constexpr char kAllSets[] = "all";  // in tables: the items of all data sets together

struct Metric {
  std::string_view name, meaning;
  double questions::Scores::*value;
  const ColumnSchema* column;  // in the overview, which declares name and meaning
};
const std::vector<Metric>& metrics();

// What one model scored on one data set under one condition. Failed items have no scores.
struct CellScores {
  std::string model, set, condition;
  std::vector<AnswerRecord> answers;  // without their prompts
  std::vector<AnswerRecord> failures;

  std::vector<double> column(const Metric& metric) const;
};

// The scores of two cells on the items that both answered.
struct PairedColumns {
  std::vector<std::string> ids;
  std::vector<double> a, b;
};
PairedColumns paired(const CellScores& a, const CellScores& b, const Metric& metric);

// What run.json says of the models and conditions that the answers name.
struct ConditionFacts {
  std::string name, axis, value;
  bool closed_book = false;
};
struct ModelFacts {
  std::string name, family;
  bool masked_diffusion = false;
};

// All scores of a finished run.
struct ScoreBook {
  std::vector<ModelFacts> models;
  std::vector<std::string> sets;
  std::vector<ConditionFacts> conditions;
  std::vector<CellScores> cells;  // in the order of the run

  const CellScores* find(const std::string& model, const std::string& set,
                         const std::string& condition) const;
};

ScoreBook read_scores(const std::filesystem::path& run_folder);
// Of a run in parts that are open already.
ScoreBook read_scores(const std::filesystem::path& run_folder, const AnswerParts& parts);

}  // namespace buoy::run
