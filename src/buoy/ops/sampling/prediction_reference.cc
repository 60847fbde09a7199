#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "buoy/ops/sampling/prediction.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::ops {

RowPrediction predict_row_reference(std::span<const double> logits, std::int32_t held,
                                    std::span<std::int32_t> tokens, std::span<double> probabilities) {
  const auto p = softmax(logits);
  std::vector<std::int32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  const auto of_rank = [&](size_t rank) {
    return rank < order.size() ? p[static_cast<size_t>(order[rank])] : 0.0;
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = i < order.size() ? order[i] : kNoToken;
    probabilities[i] = of_rank(i);
  }
  RowPrediction out;
  out.confidence = held < 0 ? of_rank(0) : p[static_cast<size_t>(held)];
  for (const double share : p) out.entropy -= share > 0 ? share * std::log(share) : 0.0;
  out.margin = of_rank(0) - of_rank(1);
  return out;
}

}  // namespace buoy::ops
