#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "buoy/claims/kinds.h"

namespace buoy::null_studies {

struct Draw {
  std::size_t studies = 1000, per_arm = 5;
  std::size_t controls = 1;  // of each arm, as a study has them
  std::uint64_t seed = 1;
};

// An effect that is added to every number of some networks.
struct Planted {
  std::string name;
  std::string claim;
  bool of_diffusion = true;                // else of the autoregressive arm
  std::map<std::string, double> quantity;  // what is added to quantities that begin so
};

// How often each verdict about kinds of models came out.
struct Verdicts {
  std::map<claims::Verdict, std::size_t> of;
  std::map<std::string, std::map<claims::Finding, std::size_t>> findings;  // by quantity

  double share(claims::Verdict verdict, std::size_t studies) const;
};

// Draws networks of each arm without replacement, as a study would have them, and controls; judges one claim.
// An effect is planted into the networks and not into the controls.
Verdicts judge_drawn(const claims::ClaimRule& rule, std::span<const claims::NetworkQuantity> numbers,
                     const Draw& draw, const Planted* planted = nullptr);

}  // namespace buoy::null_studies
