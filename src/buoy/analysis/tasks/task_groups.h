#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/tasks/task_samples.h"

namespace buoy::analysis {

// Fewer data sets of a model are no comparison of tasks.
inline constexpr size_t kFewestTasks = 3;
// Mean lengths of rows this near to each other are alike: what differs between such tasks is not the length.
inline constexpr double kAlike = 1.1;

// One model and what it was asked. A task is a data set: traces that share no question.
struct TaskGroup {
  std::string model, kind;  // kind as tables of scores have it: "masked diffusion", "autoregressive"
  std::vector<const TaskTrace*> tasks;
  struct Repeat {
    const TaskTrace* trace;
    std::string same_as;  // the task whose questions it asks again
  };
  std::vector<Repeat> repeats;
  std::vector<std::int32_t> layers;  // that all its tasks have

  bool comparable() const { return tasks.size() >= kFewestTasks; }
  // Most tasks with rows of like length; empty when no two have.
  std::vector<const TaskTrace*> alike() const;
};

double mean_tokens(const TaskTrace& trace);

// By model, in the order they come. Models are the same when their config and weights are.
std::vector<TaskGroup> group_by_model(std::span<const TaskTrace* const> traces);

}  // namespace buoy::analysis
