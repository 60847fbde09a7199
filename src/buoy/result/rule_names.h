#pragma once

#include <string>

#include "buoy/result/table_view.h"

namespace buoy {

// How rules that find floating tokens are called in tables: their numbers are options of the analysis, and
// part of the names.

inline constexpr const char* kPublishedSigmaRule = "three_sigma";

// The rule above mean + epsilon deviations: "three_sigma" as published (also when the rows name none),
// "2_sigma" with that epsilon. `column` holds such names, or longer ones that begin so.
std::string sigma_rule(const TableView& rows, const ColumnSchema& column);
// " by 2_sigma", for a sentence; nothing for the published rule.
std::string by_other_rule(const std::string& sigma_rule);
// The share rule, of the smaller factor where there are two: "share_4"; "" when the rows name none.
std::string share_rule(const TableView& rows, const ColumnSchema& column);

}  // namespace buoy
