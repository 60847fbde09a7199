#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/result/table.h"
#include "buoy/run/summary/score_book.h"
#include "buoy/stats/paired_bootstrap.h"

namespace buoy::run {

// Tables of a finished run, each with intervals from resampling items (paired wherever two are compared):
//   eval_scores       every metric of every cell
//   eval_averages     over data sets: the paper's ten-cell average, and the mean over all items
//   eval_gains        what a condition adds to closed book, per model and per kind of model
//   eval_gain_ratio   the gain of masked-diffusion models over that of autoregressive ones
//   eval_differences  model against model on the same items
//   eval_effects      every value of a sweep against its first, on the same items
//   eval_middle       gold passage at the ends against in the middle (sweep of gold-position)
//   eval_positions    exact match by the place of the gold passage
//   eval_labels       exact match by what the data says of its items
//   eval_attention    attention of right and of wrong answers (with --observe)
//   eval_failures     items without an answer, and why
// Tables that would be empty are left out, but for the first.
std::vector<Table> summarise(const ScoreBook& book, const stats::BootstrapOptions& options);

// The scores for a terminal: a row for each cell, intervals beside the numbers.
Table overview(const std::vector<Table>& tables);

// summary.json with all tables, summary.csv with the first.
void write_summary(const std::vector<Table>& tables, const std::filesystem::path& folder);

}  // namespace buoy::run
