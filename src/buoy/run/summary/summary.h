#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/result/table.h"
#include "buoy/run/summary/score_book.h"
#include "buoy/stats/paired_bootstrap.h"

namespace buoy::run {

// Tables of a finished run, as result/schema/evaluation.h declares them, each with intervals from resampling
// items (paired wherever two are compared).
// Tables that would be empty are left out, but for the first.
std::vector<Table> summarise(const ScoreBook& book, const stats::BootstrapOptions& options);

// The scores for a terminal: a row for each cell, intervals beside the numbers.
Table overview(const std::vector<Table>& tables);

// summary.json with all tables, summary.csv with the first.
void write_summary(const std::vector<Table>& tables, const std::filesystem::path& folder);

}  // namespace buoy::run
