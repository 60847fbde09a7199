#include "buoy/analysis/drift/set_stability.h"

#include <algorithm>
#include <cmath>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

// Expected sizes in place of the expectation of the ratio, as in k/(2n - k).
double random_jaccard(size_t a, size_t b, std::int64_t candidates) {
  const double both = static_cast<double>(a) * static_cast<double>(b) / static_cast<double>(candidates);
  return both / (static_cast<double>(a + b) - both);
}

}  // namespace

double jaccard_of(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  size_t common = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j)
      ++common, ++i, ++j;
    else if (*i < *j)
      ++i;
    else
      ++j;
  }
  const size_t together = a.size() + b.size() - common;
  return together > 0 ? static_cast<double>(common) / static_cast<double>(together) : stats::kNan;
}

void SetStability::reset(std::int64_t tokens) {
  previous_.clear();
  last_.assign(static_cast<size_t>(tokens), -1);
  run_.assign(static_cast<size_t>(tokens), 0);
  steps_ = longest_ = 0;
  sizes_ = jaccards_ = nulls_ = pairs_ = 0;
  defined_ = true;
}

void SetStability::add(const Anchors& anchors, std::int64_t candidates) {
  defined_ = defined_ && anchors.defined;
  const auto& now = anchors.positions;
  for (const auto position : now) {
    const auto j = static_cast<size_t>(position);
    run_[j] = steps_ > 0 && last_[j] == steps_ - 1 ? run_[j] + 1 : 1;
    last_[j] = steps_;
    longest_ = std::max(longest_, run_[j]);
  }
  if (steps_ > 0 && !(now.empty() && previous_.empty())) {
    jaccards_ += jaccard_of(previous_, now);
    nulls_ += random_jaccard(previous_.size(), now.size(), candidates);
    ++pairs_;
  }
  sizes_ += static_cast<double>(now.size());
  previous_ = now;
  ++steps_;
}

double SetStability::jaccard() const {
  return defined_ && pairs_ > 0 ? jaccards_ / pairs_ : stats::kNan;
}

double SetStability::jaccard_null() const {
  return defined_ && pairs_ > 0 ? nulls_ / pairs_ : stats::kNan;
}

double SetStability::skipped_pairs() const {
  return defined_ && steps_ > 1 ? 1 - pairs_ / (steps_ - 1) : stats::kNan;
}

double SetStability::persistence() const {
  return defined_ && steps_ > 1 ? static_cast<double>(longest_) / steps_ : stats::kNan;
}

double SetStability::mean_size() const {
  return defined_ && steps_ > 1 ? sizes_ / steps_ : stats::kNan;
}

}  // namespace buoy::analysis
