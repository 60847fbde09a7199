#pragma once

#include <string>
#include <vector>

#include "buoy/study/study_sizes.h"

namespace buoy::study {

// Verdicts on claims that cannot come out of a study, whatever its models do, as far as its design tells: one
// line each, with the reason. What only the answers tell (a ceiling) is said to be unknown.
std::vector<std::string> excluded_outcomes(const StudyPlan& plan, const StudyFacts& facts);

}  // namespace buoy::study
