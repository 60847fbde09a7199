#pragma once

#include <string>
#include <vector>

#include "buoy/study/study_sizes.h"

namespace buoy::study {

// How many networks a verdict about kinds of models may rest on: models of the study (those named; none
// named: all) whose mask is that of their kind, and siblings whose numbers were made for the same rules.
// Whether siblings were asked the same is known when their numbers are compared with those of the study. A
// sibling that is a model of the study counts once, if both are called by the same weights; that is not known
// before, so this is the most there can be.
std::size_t counting_networks(const StudyPlan& plan, const StudyFacts& facts,
                              const std::vector<std::string>& models, bool masked_diffusion);

}  // namespace buoy::study
