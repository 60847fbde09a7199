#pragma once

#include <functional>
#include <optional>
#include <string>

#include "buoy/base/stopwatch.h"
#include "buoy/run/parts/part.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/study/study_plan.h"
#include "buoy/tensor/device.h"

namespace buoy::study {

struct StudyCall {
  StudyPlan plan;
  int threads = 0;  // 0: all cores
  Device device = Device::kCpu;
  std::string command = {};  // as typed, for the report
  // A part of the study: its samples of every trace and every evaluation, and no report. An evaluation that
  // needs a whole trace waits for the other parts; when none of them runs, Stopped: start again later.
  std::optional<run::Sharding> sharding = {};
  shard::RunFacts facts = {};  // of the parts of every trace and evaluation, but for their kind
  std::function<void(const std::string& stage, std::size_t samples, std::size_t before)> begin_part = {};
  std::function<void()> step = {};
};

// Makes the data, traces, evaluates and writes one report below the study's folder. What is there already
// stays: a study that was interrupted goes on where it was.
// The clock is told where the time goes.
void run_study(const StudyCall& call, Stopwatch& clock);

}  // namespace buoy::study
