#include "buoy/analysis/retrieval/needle.h"

#include <algorithm>

#include "buoy/analysis/core/extent.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

bool Needle::holds(std::int64_t position) const {
  return std::binary_search(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
}

std::int64_t Needle::places_of(const ObservedSample& sample, std::int32_t token, std::int64_t last) const {
  return std::count_if(positions.begin(), positions.end(), [&](std::int32_t j) {
    return j <= last && sample.final_row[static_cast<size_t>(j)] == token;
  });
}

std::int64_t Needle::places_up_to(std::int64_t last) const {
  return std::upper_bound(positions.begin(), positions.end(), static_cast<std::int32_t>(last)) -
         positions.begin();
}

Needle find_needle(const ObservedSample& sample) {
  require_shape(sample, trace::kEvidence, {sample.tokens});
  Needle needle;
  std::map<std::int32_t, std::int64_t> run;
  for (std::int64_t j = 0; j < sample.tokens; ++j) {
    if (sample.evidence[static_cast<size_t>(j)] == 0) {
      run.clear();
      continue;
    }
    needle.positions.push_back(static_cast<std::int32_t>(j));
    const auto token = sample.final_row[static_cast<size_t>(j)];
    auto& most = needle.contents[token];
    most = std::max(most, ++run[token]);
  }
  for (const auto& [token, times] : needle.contents) needle.length += times;
  return needle;
}

double needle_recall(const Needle& needle, std::span<const std::int32_t> answer) {
  std::int64_t shared = 0;
  for (const auto& [token, times] : needle.contents)
    shared += std::min<std::int64_t>(times, std::count(answer.begin(), answer.end(), token));
  return needle.length > 0 ? static_cast<double>(shared) / static_cast<double>(needle.length) : 0;
}

}  // namespace buoy::analysis
