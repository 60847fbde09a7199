#pragma once

#include "app/study_plan.h"
#include "tensor/device.h"

namespace buoy::app {

struct StudyCall {
  StudyPlan plan;
  int threads = 0;  // 0: all cores
  Device device = Device::kCpu;
};

// Makes the data, traces, evaluates and writes one report below the study's folder. What is there already
// stays: a study that was interrupted goes on where it was.
void run_study(const StudyCall& call);

}  // namespace buoy::app
