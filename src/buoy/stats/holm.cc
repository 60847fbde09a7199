#include "buoy/stats/holm.h"

#include <algorithm>
#include <cmath>

#include "buoy/stats/not_a_number.h"

namespace buoy::stats {

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size(), kNan);
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, static_cast<double>(order.size() - rank) * p[order[rank]]);
    out[order[rank]] = std::min(1.0, largest);
  }
  return out;
}

}  // namespace buoy::stats
