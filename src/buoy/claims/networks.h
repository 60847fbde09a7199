#pragma once

#include <string>
#include <vector>

#include "buoy/claims/rules.h"

// Networks as the unit: what verdicts about kinds of models rest on.
namespace buoy::claims {

enum class Verdict;
struct ClaimVerdict;

// One training. Traces of the same network on several data sets have the same name.
struct Network {
  std::string name;
  bool masked_diffusion = true;

  bool operator==(const Network&) const = default;
};

struct NetworkVerdict {
  Network network;
  Verdict verdict;  // of all that was judged with it
};

// A claim about kinds of models, judged by networks instead of questions.
struct KindsVerdict {
  std::string words;                     // "too few networks (1 per arm; from 5 on)"
  bool enough = false;                   // networks in each arm that the claim speaks of
  std::vector<NetworkVerdict> networks;  // of these arms
};

KindsVerdict judge_kinds(const ClaimVerdict& claim, Arms arms);

}  // namespace buoy::claims
