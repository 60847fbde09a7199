#include "buoy/analysis/floating/floating_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/analysis/core/uniform.h"
#include "buoy/base/error.h"
#include "buoy/tensor/logarithms.h"

namespace buoy::analysis {
namespace {

constexpr double kRulliEpsilon = 3.0;  // "eps = 3 everywhere"
constexpr double kMadToDeviation = 1.4826;

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

AnchorDetector::AnchorDetector(const Reach& reach, const RuleOptions& options)
    : reach_(reach), tokens_(reach.end), options_(options), null_(uniform_received(reach)) {
  for (const double null : null_) {
    floor_.push_back(std::max(1.0 / static_cast<double>(tokens_), null));
    share_.push_back(options.share_factor * floor_.back());
    share_double_.push_back(2 * share_.back());
    flat_ = flat_ && floor_.back() == floor_.front();
  }
}

void AnchorDetector::look(std::span<const double> received) {
  BUOY_CHECK(static_cast<std::int64_t>(received.size()) == tokens_ && tokens_ > 0);
  received_ = received;
  lift_.clear();
  const auto n = static_cast<double>(received.size());
  double sum = received[0], second = 0;
  size_t top = 0;
  for (size_t j = 1; j < received.size(); ++j) {
    const double value = received[j];
    sum += value;
    if (value > received[top]) {
      second = received[top];
      top = j;
    } else if (j == 1 || value > second) {
      second = value;
    }
  }
  top_ = static_cast<std::int64_t>(top);
  second_ = second;
  mean_ = sum / n;
  total_ = mean_ * n;
  double off = 0;
  squares_ = 0;
  for (const double value : received) {
    off += (value - mean_) * (value - mean_);
    squares_ += value * value;
  }
  deviation_ = std::sqrt(off / n);
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

const std::vector<double>& AnchorDetector::lift() {
  if (!lift_.empty()) return lift_;
  lift_.resize(received_.size());
  for (size_t j = 0; j < received_.size(); ++j) lift_[j] = received_[j] / floor_[j];
  return lift_;
}

std::int64_t AnchorDetector::top_lift() {
  const std::vector<double>& lifts = lift();  // made before any iterator is taken
  return std::max_element(lifts.begin(), lifts.end()) - lifts.begin();
}

double AnchorDetector::entropy() {
  scratch_.resize(received_.size());
  for (size_t j = 0; j < received_.size(); ++j) scratch_[j] = received_[j] > 0 ? received_[j] : 1.0;
  logarithms(scratch_, scratch_);
  double sum = 0;
  for (size_t j = 0; j < received_.size(); ++j) sum -= received_[j] * scratch_[j];
  return sum;
}

double AnchorDetector::anchor_count() const {
  return squares_ > 0 ? total_ * total_ / squares_ : 0;
}

void AnchorDetector::above(double threshold, Anchors& out) const {
  if (!(received_[static_cast<size_t>(top_)] > threshold)) return;
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] > threshold) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::above_each(const std::vector<double>& thresholds, Anchors& out) const {
  if (flat_) return above(thresholds[0], out);
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] > thresholds[j]) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

// Eq. 3 of Rulli et al. itself: score above the mean of the other scores plus epsilon.
void AnchorDetector::above_others(double scale, Anchors& out) const {
  out.defined = tokens_ > 1;
  if (!out.defined) return;
  const auto others = static_cast<double>(tokens_ - 1);
  const auto exceeds = [&](double value) {
    return scale * value > scale * (total_ - value) / others + kRulliEpsilon;
  };
  // The larger a score, the more it exceeds the others: the rule is asked near its threshold alone.
  const double threshold = (total_ / others + kRulliEpsilon / scale) / (1 + 1 / others);
  constexpr double kRounding = 1e-9;
  const double unsure = threshold * (1 - kRounding), sure = threshold * (1 + kRounding);
  if (!(received_[static_cast<size_t>(top_)] > unsure)) return;
  for (size_t j = 0; j < received_.size(); ++j) {
    if (received_[j] > unsure && (received_[j] > sure || exceeds(received_[j])))
      out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::three_sigma_of_lift(Anchors& out) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(tokens_);
  for (const double lift : lift()) sum += lift;
  const double mean = sum / n;
  for (const double lift : lift_) squares += (lift - mean) * (lift - mean);
  const double threshold = mean + options_.epsilon * std::sqrt(squares / n);
  for (size_t j = 0; j < lift_.size(); ++j) {
    if (lift_[j] > threshold) out.positions.push_back(static_cast<std::int32_t>(j));
  }
}

void AnchorDetector::robust(Anchors& out) {
  const double median = median_.of(received_);
  scratch_.resize(received_.size());
  for (size_t j = 0; j < received_.size(); ++j) scratch_[j] = std::abs(received_[j] - median);
  const double mad = median_.of(scratch_);
  out.defined = mad > 0;
  if (out.defined) above(median + options_.mad_factor * kMadToDeviation * mad, out);
}

double share_of(const std::vector<std::int32_t>& positions, std::span<const double> received) {
  double sum = 0;
  for (const auto j : positions) sum += received[static_cast<size_t>(j)];
  return sum;
}

}  // namespace buoy::analysis
