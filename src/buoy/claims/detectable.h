#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/claims/rules.h"
#include "buoy/stats/estimate.h"

// What a study can find, before it runs by assumed spreads, and afterwards by the intervals it has.
namespace buoy::claims {

// How much a quantity differs from question to question and from network to network: assumed, each measured
// once. Other models may spread more.
struct Spread {
  std::string_view claim, quantity;  // as QuantityRule::what
  double over_questions = 0, over_networks = 0;
  std::size_t together = 1;  // quantities of the claim that are corrected together
};
std::span<const Spread> assumed_spreads();
// Where they come from.
inline constexpr std::string_view kSpreadOverQuestions = "networks of 7 million parameters on 64 questions",
                                  kSpreadOverNetworks = "five such networks of other seeds";
inline constexpr double kAssumedGain = 0.25;  // C7: of the autoregressive models; no measurement, a case

// A quantity of a claim and the smallest effect (distance from the null) that is found.
struct Detectable {
  std::string claim, quantity;
  double effect = 0;
};
// By traces: about these models (networks 0) or about kinds of models.
std::vector<Detectable> detectable_of_traces(std::int64_t questions, std::int64_t networks = 0);
// By answers, these models: drops of exact match (C9, C10), the ratio of gains (C7).
Detectable detectable_of_places(std::int64_t questions);
Detectable detectable_of_columns(std::int64_t questions);
Detectable detectable_of_gains(std::int64_t questions);

// "C1: Spearman of anchor and step from 0.31 on, ..."
std::string describe(std::span<const Detectable> of_claim);

// Of a number with its interval of 1 - kAlpha: the smallest effect that such data finds.
double detectable_by(const stats::Estimate& estimate, const QuantityRule& rule);

}  // namespace buoy::claims
