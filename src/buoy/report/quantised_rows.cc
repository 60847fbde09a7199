#include "buoy/report/quantised_rows.h"

#include <algorithm>
#include <cmath>

namespace buoy::report {

void QuantisedRows::add(std::span<const double> row) {
  codes_.resize(codes_.size() + row.size());
  const auto codes = std::span(codes_).last(row.size());
  const RowScale scale = quantise_row(row, codes);
  scales_.push_back(scale.low);
  scales_.push_back(scale.high);
  read_back_.resize(row.size());
  read_quantised_row(scale, codes, read_back_);
  for (size_t i = 0; i < row.size(); ++i) {
    if (codes[i] != 0) largest_error_ = std::max(largest_error_, std::abs(read_back_[i] - row[i]) / row[i]);
  }
}

}  // namespace buoy::report
