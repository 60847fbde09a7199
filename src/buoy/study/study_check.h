#pragma once

#include <string>
#include <vector>

#include "buoy/study/study_plan.h"
#include "buoy/study/study_sizes.h"
#include "buoy/tensor/device.h"

namespace buoy::study {

// A model that is named by its id on the hub.
struct StudyDownload {
  std::string id;                   // with its revision, if one is named
  std::vector<std::string> models;  // of the study
  bool there = false;               // in the local cache
  std::uint64_t bytes = 0;          // of its weights, expected ones where it is not there; 0: not known
};

// What can be known of a study before anything of it runs.
struct StudyFindings {
  std::vector<std::string> problems;  // all that is missing or wrong
  std::vector<StudyPart> parts;
  std::vector<StudyDownload> downloads;
  std::vector<std::string> memory;      // a line for each model: what it needs, what there is
  std::vector<std::string> excluded;    // verdicts that cannot come out, see study_outcomes.h
  std::vector<std::string> detectable;  // effects that can be found, see design/power.h
  std::uint64_t free_bytes = 0;         // where the results go

  std::uint64_t missing_bytes() const;  // of parts that are known
  bool sizes_known() const;             // of every part
};

// Looks at models, data, templates, traces, sweeps and settings, and measures every part.
StudyFindings examine(const StudyPlan& plan, Device device);

// Parts with their questions, forward passes and bytes, the sum, memory and disk, and verdicts that cannot
// come out, for people.
std::string describe(const StudyFindings& findings, const StudyPlan& plan);

// A line for each model that an id names, and how much is to be downloaded; nothing without such models.
std::vector<std::string> describe_downloads(const std::vector<StudyDownload>& downloads);

// How long the arithmetic of all forward passes takes a machine whose matrix products reach this rate.
std::string describe_time(const StudyFindings& findings, double product_flops, const std::string& machine);

// IoError when the results will not fit on the disk.
void require_space(const StudyFindings& findings, const StudyPlan& plan);

}  // namespace buoy::study
