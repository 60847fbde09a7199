#pragma once

#include <functional>
#include <vector>

#include "buoy/claims/claims_evidence.h"

// Several quantities of one claim, each with an interval: Holm's correction, with intervals instead of p
// values.
namespace buoy::claims {

bool decided(Finding finding);  // for, against, equal or split

// An interval of 1 - kAlpha as one of 1 - alpha: each end is moved out from the value by the ratio of normal
// quantiles.
Estimate widened(Estimate estimate, double alpha);

// Step by step: one of m must be decided at alpha / m, the next of those left at alpha / (m - 1), and so on;
// where none is, all that are left keep what they are at that level.
using FindingAt = std::function<Finding(std::size_t number, double alpha)>;
std::vector<Finding> corrected_findings(std::size_t count, const FindingAt& finding, double alpha = kAlpha);

// The same for the parts of a claim. Those that are lacking do not count.
using Question = std::function<Part(double alpha)>;
std::vector<Part> decide(std::span<const Question> questions);

Question ask(Reading reading, Expectation expected);
Question ask_layers(std::vector<Estimate> layers, Expectation expected);

// On fewer items than this, so many quantities cannot all be shown to lie within a margin of 0, even when all
// items agree: Wilson's interval allows for items that were not seen.
std::int64_t fewest_items(double margin, std::size_t quantities);

}  // namespace buoy::claims
