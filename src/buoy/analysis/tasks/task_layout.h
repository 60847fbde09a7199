#pragma once

#include <span>

#include "buoy/analysis/tasks/task_samples.h"
#include "buoy/analysis/tasks/task_share.h"

namespace buoy::analysis {

// What the prompts alone would give: the raw shares if every anchor were a position drawn evenly from its
// sample. Tasks whose prompts differ in length or in their make-up are apart without any model.
struct TaskLayout {
  double relative_position = 0, position = 0;  // eta squared
  double token_type = 0;                       // Cramer's V
};

TaskLayout task_layout(std::span<const TaskSample* const> samples, const TaskLabels& labels);

}  // namespace buoy::analysis
