#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/claims/quantities.h"
#include "buoy/result/table.h"

// What a mask and an objective do to the numbers that claims rest on: arms of networks compared, two at a
// time. No claim is judged by it.
namespace buoy::claims {

// Where the interval of a contrast lies: docs/verdicts.md, contrasts of arms.
enum class ContrastFinding {
  kBeyond,           // beyond the margin, and beyond what untrained networks of both arms show
  kBeyondUnchecked,  // beyond the margin; no untrained networks of both arms were there to compare with
  kAlsoUntrained,    // beyond the margin, but not beyond what untrained networks show: held back
  kWithin,           // inside the margin
  kOpen,
};
std::string_view name_of(ContrastFinding finding);

struct ArmContrast {
  std::string claim, quantity, data;
  std::string arm, other;    // "masked tokens, full mask": what the networks of an arm share
  std::string effect;        // what they differ in: "mask", "objective" or "mask and objective"
  stats::Estimate estimate;  // arm minus other, with an interval over networks and questions (Welch)
  std::size_t networks = 0, other_networks = 0;
  double margin = 0;                                            // of the quantity, as a difference
  double untrained = std::numeric_limits<double>::quiet_NaN();  // the same difference of untrained networks
  ContrastFinding finding = ContrastFinding::kOpen;
};

inline constexpr std::size_t kFewestOfAContrast = 2;  // networks of an arm: one has no spread

// What is too small to matter for the difference of two networks; 0 where the rules have no margin for one.
double margin_of_difference(const std::string& claim, const std::string& quantity);

// Of all numbers whose networks say mask and objective; controls are no networks of an arm, but hold its
// contrasts back. In the order of the numbers, arms from next to masked tokens and from the causal to the
// full mask; `arm` is the later of two.
std::vector<ArmContrast> contrasts_of(std::span<const NetworkQuantity> numbers);

Table contrasts_table(std::span<const ArmContrast> contrasts);

}  // namespace buoy::claims
