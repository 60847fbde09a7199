#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "buoy/run/score/answer_score.h"

namespace buoy::testing {

inline run::ScoreOptions masked_form(run::ScoreForm form,
                                     run::PathOrder order = run::PathOrder::kLeftToRight) {
  run::ScoreOptions options;
  options.form = form;
  options.order = order;
  return options;
}

inline double log_softmax(std::span<const double> row, std::int32_t token) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double value : row) sum += std::exp(value - top);
  return row[static_cast<std::size_t>(token)] - top - std::log(sum);
}

}  // namespace buoy::testing
