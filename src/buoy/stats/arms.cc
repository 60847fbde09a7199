#include "buoy/stats/arms.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "buoy/base/error.h"
#include "buoy/stats/student_t.h"

namespace buoy::stats {
namespace {

struct VariancePart {
  double variance = 0;
  double freedom = 1;
};

// t for the sum of independent parts, each known to its own degrees of freedom.
double reach_of(std::initializer_list<VariancePart> parts, double confidence) {
  double variance = 0, doubt = 0;
  for (const auto& part : parts) {
    variance += part.variance;
    doubt += part.variance * part.variance / part.freedom;
  }
  if (variance == 0) return 0;
  const double freedom = doubt > 0 ? std::max(1.0, variance * variance / doubt) : 1e6;
  return two_sided_t_between(confidence, freedom) * std::sqrt(variance);
}

double freedom_of(std::int64_t count) {
  return static_cast<double>(std::max<std::int64_t>(1, count - 1));
}

VariancePart networks_part(const ArmMean& arm, double factor = 1) {
  return {factor * factor * arm.variance_of_networks, freedom_of(arm.networks)};
}

VariancePart questions_part(const ArmMean& arm, double factor = 1) {
  return {factor * factor * arm.variance_of_questions, freedom_of(arm.questions)};
}

std::int64_t fewest(const ArmMean& one, const ArmMean& other) {
  return std::min(one.networks, other.networks);
}

}  // namespace

double error_of_interval(const Interval& interval, double confidence) {
  return (interval.upper - interval.lower) / 2 / two_sided_normal(confidence);
}

ArmMean arm_mean(std::span<const NetworkNumber> networks) {
  if (networks.empty()) throw_usage_error({"networks", "at least one", "none"});
  ArmMean out;
  const auto n = static_cast<double>(networks.size());
  out.networks = static_cast<std::int64_t>(networks.size());
  out.questions = networks[0].questions;
  for (const auto& network : networks) {
    out.mean += network.value / n;
    out.variance_of_questions += network.error * network.error / n;
    out.questions = std::min(out.questions, network.questions);
  }
  double variance = 0;  // of the population
  for (const auto& network : networks)
    variance += (network.value - out.mean) * (network.value - out.mean) / n;
  out.deviation = std::sqrt(variance);
  out.variance_of_networks = networks.size() > 1 ? variance / (n - 1) : 0;
  return out;
}

Estimate arm_estimate(const ArmMean& arm, double confidence) {
  Estimate out{.value = arm.mean, .samples = arm.networks, .deviation = arm.deviation};
  if (arm.networks < 2) return out;
  const double reach = reach_of({networks_part(arm), questions_part(arm)}, confidence);
  out.lower = arm.mean - reach;
  out.upper = arm.mean + reach;
  return out;
}

Estimate difference_of_arms(const ArmMean& one, const ArmMean& other, double confidence, double factor) {
  Estimate out{.value = one.mean - factor * other.mean, .samples = fewest(one, other)};
  if (out.samples < 2) return out;
  const double reach = reach_of(
      {networks_part(one), questions_part(one), networks_part(other, factor), questions_part(other, factor)},
      confidence);
  out.lower = out.value - reach;
  out.upper = out.value + reach;
  return out;
}

Estimate ratio_of_arms(const ArmMean& one, const ArmMean& other, double confidence) {
  Estimate out{.value = one.mean / other.mean, .samples = fewest(one, other)};
  if (out.samples < 2 || !(arm_estimate(other, confidence).lower > 0)) return out;
  // (one - r other)^2 = t^2 (v + r^2 w) is a quadratic in r, with two ends where `other` is surely not 0.
  const Estimate at_ratio = difference_of_arms(one, other, confidence, out.value);
  const double v = one.variance_of_networks + one.variance_of_questions,
               w = other.variance_of_networks + other.variance_of_questions;
  const double variance = v + out.value * out.value * w;
  const double t = variance > 0 ? (at_ratio.upper - at_ratio.value) / std::sqrt(variance) : 0;
  const double a = other.mean * other.mean - t * t * w, half_b = one.mean * other.mean,
               c = one.mean * one.mean - t * t * v;
  const double root = half_b * half_b - a * c;
  if (a <= 0 || root < 0) return out;
  out.lower = (half_b - std::sqrt(root)) / a;
  out.upper = (half_b + std::sqrt(root)) / a;
  return out;
}

}  // namespace buoy::stats
