#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/claims/quantities.h"
#include "buoy/result/table.h"

// What a mask and an objective do to the numbers that claims rest on: arms of networks compared, two at a
// time. No claim is judged by it.
namespace buoy::claims {

struct ArmContrast {
  std::string claim, quantity, data;
  std::string arm, other;    // "masked tokens, full mask": what the networks of an arm share
  std::string effect;        // what they differ in: "mask", "objective" or "mask and objective"
  stats::Estimate estimate;  // arm minus other, with an interval over networks and questions (Welch)
  std::size_t networks = 0, other_networks = 0;
};

inline constexpr std::size_t kFewestOfAContrast = 2;  // networks of an arm: one has no spread

// Of all numbers whose networks say mask and objective; controls are left out. In the order of the numbers,
// arms from next to masked tokens and from the causal to the full mask; `arm` is the later of two.
std::vector<ArmContrast> contrasts_of(std::span<const NetworkQuantity> numbers);

Table contrasts_table(std::span<const ArmContrast> contrasts);

}  // namespace buoy::claims
