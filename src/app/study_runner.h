#pragma once

#include "study/study.h"
#include "tensor/device.h"

namespace buoy::app {

struct StudyCall {
  study::Study study;
  int threads = 0;  // 0: all cores
  Device device = Device::kCpu;
};

// Refuses what can be known to go wrong before anything has run: folders of models that are not there, data
// and templates that cannot be read, observables and sweeps nobody knows.
void check_study(const StudyCall& call);

// Checks, makes the data, traces, evaluates and writes one report below the study's folder. What is there
// already stays: a study that was interrupted goes on where it was.
void run_study(const StudyCall& call);

}  // namespace buoy::app
