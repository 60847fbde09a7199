#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/score/normalise.h"

namespace buoy::questions {

// One answer against the accepted ones, each value the largest over them; or means of such values.
struct Scores {
  double exact_match = 0;      // equal after normalisation
  double substring = 0;        // the authors' Acc: the gold is part of the answer, also inside a word
  double substring_words = 0;  // the gold's words follow each other in the answer
  double f1 = 0;               // of the bags of words; two empty bags: 1, one: 0
  double words = 0;            // length of the answer as written
};

// An accepted answer that is empty after normalisation counts for nothing in the substring scores.
Scores score_answer(std::string_view answer, std::span<const std::string> golds, Normalisation normalisation);

// The results of one data set.
struct SetScores {
  std::string set;
  std::size_t items = 0;
  Scores mean;
};

SetScores mean_scores(std::string set, std::span<const Scores> items);

// The authors' "Avg.": the plain mean over all substring and F1 cells, two per set; ten for their five sets.
double cell_average(std::span<const SetScores> sets);
// The mean over all items of all sets.
Scores item_average(std::span<const SetScores> sets);

}  // namespace buoy::questions
