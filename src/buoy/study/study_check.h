#pragma once

#include <string>
#include <vector>

#include "buoy/study/study_plan.h"
#include "buoy/study/study_sizes.h"
#include "buoy/tensor/device.h"

namespace buoy::study {

// What can be known of a study before anything of it runs.
struct StudyFindings {
  std::vector<std::string> problems;  // all that is missing or wrong
  std::vector<StudyPart> parts;
  std::vector<std::string> memory;      // a line for each model: what it needs, what there is
  std::vector<std::string> excluded;    // verdicts that cannot come out, see study_outcomes.h
  std::vector<std::string> detectable;  // effects that can be found, see study_power.h
  std::uint64_t free_bytes = 0;         // where the results go

  std::uint64_t missing_bytes() const;  // of parts that are known
  bool sizes_known() const;             // of every part
};

// Looks at models, data, templates, traces, sweeps and settings, and measures every part.
StudyFindings examine(const StudyPlan& plan, Device device);

// Parts with their questions, forward passes and bytes, the sum, memory and disk, and verdicts that cannot
// come out, for people.
std::string describe(const StudyFindings& findings, const StudyPlan& plan);

// IoError when the results will not fit on the disk.
void require_space(const StudyFindings& findings, const StudyPlan& plan);

}  // namespace buoy::study
