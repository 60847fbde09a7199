#include "buoy/analysis/drift/frontier.h"

#include <limits>

#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {

namespace {

// Positions that a forward revealed; with blocks, tokens that it wrote again are among them.
std::vector<std::int64_t> revealed_in(const ObservedSample& sample, std::int32_t step) {
  std::vector<std::int64_t> out;
  if (sample.blocks) {
    const auto& reveals = sample.blocks->reveals;
    for (size_t i = 0; i + 2 < reveals.size(); i += 3) {
      if (reveals[i] == step && reveals[i + 1] < sample.tokens) out.push_back(reveals[i + 1]);
    }
    return out;
  }
  for (std::int64_t j = sample.prompt_length; j < sample.tokens; ++j) {
    if (sample.revealed_at[static_cast<size_t>(j)] == step) out.push_back(j);
  }
  return out;
}

}  // namespace

Frontier frontier_of(const ObservedSample& sample) {
  Frontier out;
  for (std::int64_t s = 0; s < sample.step_count(); ++s) {
    const std::int32_t step = sample.steps[static_cast<size_t>(s)];
    std::int64_t leading = 0;
    while (sample.prompt_length + leading < sample.tokens &&
           !sample.masked_at(s, sample.prompt_length + leading))
      ++leading;
    double sum = 0, count = 0;
    for (const auto j : revealed_in(sample, step)) {
      sum += static_cast<double>(j);
      ++count;
    }
    out.step.push_back(step);
    out.leading.push_back(static_cast<double>(leading));
    out.committed.push_back(count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

double reveal_order(const ObservedSample& sample) {
  std::vector<double> positions, steps;
  for (std::int64_t j = sample.prompt_length; j < sample.tokens; ++j) {
    const std::int32_t step = sample.revealed_at[static_cast<size_t>(j)];
    if (step < 0) continue;
    positions.push_back(static_cast<double>(j));
    steps.push_back(step);
  }
  return sample.masked_diffusion ? stats::spearman(positions, steps)
                                 : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace buoy::analysis
