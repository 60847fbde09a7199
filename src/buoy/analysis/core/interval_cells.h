#pragma once

#include <string>
#include <vector>

#include "buoy/result/table.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// A quantity with its interval is three columns: name, name_lower, name_upper.
inline void add_interval_columns(std::vector<Column>& columns, const std::string& name,
                                 const std::string& meaning) {
  columns.push_back({name, meaning});
  columns.push_back({name + "_lower", "lower end of the bootstrap interval over samples"});
  columns.push_back({name + "_upper", "upper end of the bootstrap interval over samples"});
}

inline void add_interval_cells(std::vector<Cell>& row, const stats::Estimate& interval) {
  row.push_back(number_cell(interval.value));
  row.push_back(number_cell(interval.lower));
  row.push_back(number_cell(interval.upper));
}

}  // namespace buoy::analysis
