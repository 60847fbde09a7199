#include "buoy/claims/detectable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/stats/power.h"
#include "buoy/stats/student_t.h"

namespace buoy::claims {
namespace {

constexpr std::size_t kThirds = 3;  // of the layers, C10

const QuantityRule& quantity_of(const Spread& spread) {
  for (const auto& rule : rule_of(spread.claim).quantities) {
    if (rule.what == spread.quantity) return rule;
  }
  throw InternalError("a spread of no quantity");
}

stats::PowerCase case_of(double margin, std::size_t together) {
  return {margin, kAlpha / static_cast<double>(together), kPower};
}

// Two arms that are compared both err.
double arms_of(const QuantityRule& rule) {
  return rule.contrast == Contrast::kDifference ? 2 : 1;
}

double effect_of(const Spread& spread, std::int64_t questions, std::int64_t networks) {
  const QuantityRule& rule = quantity_of(spread);
  const auto of = case_of(rule.margin, spread.together);
  const double over_questions =
      spread.over_questions * spread.over_questions / static_cast<double>(questions);
  if (networks == 0)
    return stats::detectable_by_error(std::sqrt(arms_of(rule) * over_questions),
                                      static_cast<double>(questions - 1), of);
  const double over_networks = spread.over_networks * spread.over_networks / static_cast<double>(networks);
  return stats::detectable_by_error(std::sqrt(arms_of(rule) * (over_networks + over_questions)),
                                    arms_of(rule) * static_cast<double>(networks - 1), of);
}

}  // namespace

std::vector<Detectable> detectable_of_traces(std::int64_t questions, std::int64_t networks) {
  std::vector<Detectable> out;
  for (const auto& spread : assumed_spreads())
    out.push_back({std::string(spread.claim), std::string(quantity_of(spread).what),
                   effect_of(spread, questions, networks)});
  return out;
}

Detectable detectable_of_places(std::int64_t questions) {
  const auto& rule = rules::kMiddleDrop;
  return {"C9", "drop in the middle",
          stats::detectable_drop(questions, case_of(rule.margin, rule_of("C9").quantities.size()))};
}

Detectable detectable_of_columns(std::int64_t questions) {
  return {"C10", "drop without floating columns",
          stats::detectable_drop(questions, case_of(rules::kHidden.margin, kThirds))};
}

Detectable detectable_of_gains(std::int64_t questions) {
  const auto& rule = rules::kGainRatio;
  return {"C7", fmt::format("ratio of the gains, if the autoregressive gain is {:g},", kAssumedGain),
          stats::detectable_ratio(kAssumedGain, rule.null + rule.margin, questions, case_of(0, 1))};
}

std::string describe(std::span<const Detectable> all) {
  std::string out;
  for (const auto& one : all) {
    out += out.empty() ? one.claim + ": " : ", ";
    out += std::isfinite(one.effect) ? fmt::format("{} from {:.2g} on", one.quantity, one.effect)
                                     : fmt::format("{} none", one.quantity);
  }
  return out;
}

double detectable_by(const stats::Estimate& estimate, const QuantityRule& rule) {
  const double error = 0.5 * (estimate.upper - estimate.lower) / stats::two_sided_normal(1 - kAlpha);
  return stats::detectable_by_error(error, 1e6, {rule.margin, kAlpha, kPower});
}

}  // namespace buoy::claims
