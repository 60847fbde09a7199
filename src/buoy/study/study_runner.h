#pragma once

#include "buoy/base/stopwatch.h"
#include "buoy/study/study_plan.h"
#include "buoy/tensor/device.h"

namespace buoy::study {

struct StudyCall {
  StudyPlan plan;
  int threads = 0;  // 0: all cores
  Device device = Device::kCpu;
  std::string command = {};  // as typed, for the report
};

// Makes the data, traces, evaluates and writes one report below the study's folder. What is there already
// stays: a study that was interrupted goes on where it was.
// The clock is told where the time goes.
void run_study(const StudyCall& call, Stopwatch& clock);

}  // namespace buoy::study
