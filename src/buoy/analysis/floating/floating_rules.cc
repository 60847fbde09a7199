#include "buoy/analysis/floating/floating_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/analysis/core/uniform.h"
#include "buoy/base/error.h"

namespace buoy::analysis {
namespace {

constexpr double kRulliEpsilon = 3.0;  // "eps = 3 everywhere"
constexpr double kMadToDeviation = 1.4826;

struct Spread {
  double mean, deviation;
};

Spread spread_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / n)};
}

// Of values whose order may be changed; the mean of the middle two if their number is even.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::string rule_name(Rule rule, const RuleOptions& options) {
  switch (rule) {
    case Rule::kThreeSigma:
      return options.epsilon == kPublishedEpsilon ? "three_sigma"
                                                  : fmt::format("{:g}_sigma", options.epsilon);
    case Rule::kThreeSigmaLift:
      return rule_name(Rule::kThreeSigma, options) + "_lift";
    case Rule::kAdditive:
      return "additive";
    case Rule::kRulliSum:
      return "rulli_sum";
    case Rule::kRulliPercent:
      return "rulli_percent";
    case Rule::kTop1:
      return "top_1";
    case Rule::kShare:
      return fmt::format("share_{:g}", options.share_factor);
    case Rule::kShareDouble:
      return fmt::format("share_{:g}", 2 * options.share_factor);
    case Rule::kRobust:
      return "robust";
  }
  throw InternalError("a rule without a name");
}

std::string estimator_name(Rule rule, const RuleOptions& options) {
  const bool published =
      rule == Rule::kAdditive || (rule == Rule::kThreeSigma && options.epsilon == kPublishedEpsilon);
  return published ? "published" : "calibrated";
}

AnchorDetector::AnchorDetector(bool causal, std::int64_t tokens, const RuleOptions& options)
    : causal_(causal), tokens_(tokens), options_(options), null_(uniform_received(causal, tokens)) {
  for (const double null : null_) {
    floor_.push_back(std::max(1.0 / static_cast<double>(tokens), null));
    share_.push_back(options.share_factor * floor_.back());
    share_double_.push_back(2 * share_.back());
  }
}

void AnchorDetector::look(std::span<const double> received) {
  BUOY_CHECK(static_cast<std::int64_t>(received.size()) == tokens_ && tokens_ > 0);
  received_ = received;
  const Spread spread = spread_of(received);
  mean_ = spread.mean;
  deviation_ = spread.deviation;
  total_ = mean_ * static_cast<double>(tokens_);
  top_ = 0;
  second_ = 0;
  for (size_t j = 1; j < received.size(); ++j) {
    if (received[j] > received[static_cast<size_t>(top_)]) {
      second_ = received[static_cast<size_t>(top_)];
      top_ = static_cast<std::int64_t>(j);
    } else if (j == 1 || received[j] > second_) {
      second_ = received[j];
    }
  }
}

void AnchorDetector::find(Rule rule, Anchors& out) {
  out.defined = true;
  out.positions.clear();
  switch (rule) {
    case Rule::kThreeSigma:
      // One value among n cannot be further than sqrt(n - 1) deviations from the mean.
      out.defined = static_cast<double>(tokens_ - 1) > options_.epsilon * options_.epsilon;
      if (out.defined) above(mean_ + options_.epsilon * deviation_, out);
      break;
    case Rule::kThreeSigmaLift:
      out.defined = static_cast<double>(tokens_ - 1) > options_.epsilon * options_.epsilon;
      if (out.defined) three_sigma_of_lift(out);
      break;
    case Rule::kAdditive:
      above_others(1.0, out);
      break;
    case Rule::kRulliSum:
      above_others(static_cast<double>(tokens_), out);
      break;
    case Rule::kRulliPercent:
      above_others(100.0, out);
      break;
    case Rule::kTop1:
      out.positions.push_back(static_cast<std::int32_t>(top_));
      break;
    case Rule::kShare:
      above_each(share_, out);
      break;
    case Rule::kShareDouble:
      above_each(share_double_, out);
      break;
    case Rule::kRobust:
      robust(out);
      break;
  }
  out.fired = !out.positions.empty();
  if (rule == Rule::kAdditive && out.defined && !out.fired)
    out.positions.push_back(static_cast<std::int32_t>(top_));
}

std::int64_t AnchorDetector::top_lift() const {
  size_t top = 0;
  for (size_t j = 1; j < received_.size(); ++j) {
    if (received_[j] / floor_[j] > received_[top] / floor_[top]) top = j;
  }
  return static_cast<std::int64_t>(top);
}

double AnchorDetector::entropy() const {
  double sum = 0;
  for (const double a : received_) sum -= a > 0 ? a * std::log(a) : 0.0;
  return sum;
}

double AnchorDetector::anchor_count() const {
  double squares = 0;
  for (const double a : received_) squares += a * a;
  return squares > 0 ? total_ * total_ / squares : 0;
}

void AnchorDetector::above(double threshold, Anchors& out) const {
  if (!(received_[static_cast<size_t>(top_)] > threshold)) return;
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] > threshold) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::above_each(const std::vector<double>& thresholds, Anchors& out) const {
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] > thresholds[j]) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

// Eq. 3 of Rulli et al. itself: score above the mean of the other scores plus epsilon.
void AnchorDetector::above_others(double scale, Anchors& out) const {
  out.defined = tokens_ > 1;
  if (!out.defined) return;
  const auto others = static_cast<double>(tokens_ - 1);
  for (size_t j = 0; j < received_.size(); ++j) {
    if (scale * received_[j] > scale * (total_ - received_[j]) / others + kRulliEpsilon)
      out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::three_sigma_of_lift(Anchors& out) const {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(tokens_);
  for (size_t j = 0; j < received_.size(); ++j) sum += received_[j] / floor_[j];
  const double mean = sum / n;
  for (size_t j = 0; j < received_.size(); ++j) {
    const double off = received_[j] / floor_[j] - mean;
    squares += off * off;
  }
  const double threshold = mean + options_.epsilon * std::sqrt(squares / n);
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] / floor_[j] > threshold) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::robust(Anchors& out) {
  scratch_.assign(received_.begin(), received_.end());
  const double median = median_of(scratch_);
  for (size_t j = 0; j < received_.size(); ++j) scratch_[j] = std::abs(received_[j] - median);
  const double mad = median_of(scratch_);
  out.defined = mad > 0;
  if (out.defined) above(median + options_.mad_factor * kMadToDeviation * mad, out);
}

double share_of(const std::vector<std::int32_t>& positions, std::span<const double> received) {
  double sum = 0;
  for (const auto j : positions) sum += received[static_cast<size_t>(j)];
  return sum;
}

}  // namespace buoy::analysis
