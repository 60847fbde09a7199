#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/claims/quantities.h"
#include "buoy/claims/verdict.h"

// Networks as the unit: verdicts about kinds of models.
namespace buoy::claims {

// One quantity of a claim over all networks.
struct KindQuantity {
  QuantityRule rule;
  std::string name;      // of the rule, with its detail
  std::string quantity;  // of the numbers that it is made of
  std::string data;
  stats::Estimate of_diffusion, of_autoregressive;  // the means of the arms, likewise
  stats::Estimate estimate;                         // with the interval of 1 - kAlpha, not corrected
  std::size_t diffusion = 0, autoregressive = 0;    // networks that count
  Finding finding = Finding::kLacking;              // corrected
  std::string words;                                // "-0.04 [-0.06, -0.02] (as claimed)"
};

// A claim about kinds of models, judged by networks instead of questions.
struct KindsVerdict {
  Verdict verdict = Verdict::kNotTestable;
  std::string words;     // "supported (5 per arm; 4 for)", "too few networks (1 per arm; from 5 on)"
  std::string evidence;  // the quantities with intervals over networks
  bool enough = false;   // networks in each arm that the claim speaks of
  std::size_t diffusion = 0, autoregressive = 0;
  std::vector<KindQuantity> quantities;
};

// From the numbers of one claim (those of others are left aside). Controls and networks of neither kind do
// not count. `judged` are further networks that the claim was judged on, without a number.
KindsVerdict judge_kinds(const ClaimRule& rule, std::span<const NetworkQuantity> numbers,
                         std::span<const Network> judged = {});

}  // namespace buoy::claims
