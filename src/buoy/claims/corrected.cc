#include "buoy/claims/corrected.h"

#include <algorithm>

#include "buoy/stats/share.h"

namespace buoy::claims {
namespace {

// The level that each of `count` is judged at by Holm; decided(i, level) says whether one is at a level.
std::vector<double> holm_levels(std::size_t count, const std::function<bool(std::size_t, double)>& decided_at,
                                double alpha) {
  std::vector<double> levels(count, 0);
  std::vector<std::size_t> left(count);
  for (std::size_t i = 0; i < count; ++i) left[i] = i;
  while (!left.empty()) {
    const double level = alpha / static_cast<double>(left.size());
    const auto found = std::find_if(left.begin(), left.end(), [&](auto i) { return decided_at(i, level); });
    if (found == left.end()) {
      for (const auto i : left) levels[i] = level;
      break;
    }
    levels[*found] = level;
    left.erase(found);
  }
  return levels;
}

}  // namespace

bool decided(Finding finding) {
  return finding != Finding::kUndecided && finding != Finding::kLacking;
}

Estimate widened(Estimate estimate, double alpha) {
  static const double usual = stats::two_sided_quantile(1 - kAlpha);
  const double factor = stats::two_sided_quantile(1 - alpha) / usual;
  const double value = estimate.value;
  estimate.lower = std::min(estimate.lower, value - (value - estimate.lower) * factor);
  estimate.upper = std::max(estimate.upper, value + (estimate.upper - value) * factor);
  return estimate;
}

std::vector<Finding> corrected_findings(std::size_t count, const FindingAt& finding, double alpha) {
  const auto levels = holm_levels(
      count, [&](std::size_t i, double level) { return decided(finding(i, level)); }, alpha);
  std::vector<Finding> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(finding(i, levels[i]));
  return out;
}

std::vector<Part> decide(std::span<const Question> questions) {
  std::vector<Part> parts;
  std::vector<std::size_t> defined;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    parts.push_back(questions[i](kAlpha));
    if (parts.back().finding != Finding::kLacking) defined.push_back(i);
  }
  const auto levels = holm_levels(
      defined.size(),
      [&](std::size_t i, double level) { return decided(questions[defined[i]](level).finding); }, kAlpha);
  for (std::size_t i = 0; i < defined.size(); ++i) parts[defined[i]] = questions[defined[i]](levels[i]);
  return parts;
}

Question ask(Reading reading, Expectation expected) {
  return [reading = std::move(reading), expected = std::move(expected)](double alpha) {
    return judge(reading, expected, alpha);
  };
}

Question ask_layers(std::vector<Estimate> layers, Expectation expected) {
  return [layers = std::move(layers), expected = std::move(expected)](double alpha) {
    return judge_layers(layers, expected, alpha);
  };
}

std::int64_t fewest_items(double margin, std::size_t quantities) {
  const double level = kAlpha / static_cast<double>(quantities);
  for (std::size_t items = 1;; ++items) {
    const double unseen = stats::share_estimate(0, items, 1 - kAlpha).upper;
    if (widened({0, -unseen, unseen, 0}, level).upper < margin) return static_cast<std::int64_t>(items);
  }
}

}  // namespace buoy::claims
