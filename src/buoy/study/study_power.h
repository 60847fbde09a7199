#pragma once

#include <string>
#include <vector>

#include "buoy/study/study_sizes.h"

namespace buoy::study {

// What the study can find with a power of 80%, a line for each part and claim: by its numbers of questions
// and networks, and by assumed spreads (claims/detectable.h).
std::vector<std::string> detectable_effects(const StudyPlan& plan, const StudyFacts& facts);

}  // namespace buoy::study
