#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "buoy/study/study_plan.h"

namespace buoy::study {

// Questions that a study makes itself, of the world or haystacks: lines of its data file.
std::string made_lines(const StudyPlan& plan, const DataEntry& entry);

// What such data will be, from its first questions.
struct MadeSample {
  std::size_t count = 0;                // of all questions
  std::vector<questions::Item> sample;  // at most `most`
  std::uint64_t bytes = 0;              // of the file, about
};
MadeSample made_sample(const StudyPlan& plan, const DataEntry& entry, std::size_t most);

}  // namespace buoy::study
