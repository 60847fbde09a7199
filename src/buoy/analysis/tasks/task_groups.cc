#include "buoy/analysis/tasks/task_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace buoy::analysis {
namespace {

bool share_a_question(const TaskTrace& a, const TaskTrace& b) {
  std::set<std::string> asked;
  for (const auto& sample : a.samples) asked.insert(sample.question);
  return std::any_of(b.samples.begin(), b.samples.end(),
                     [&](const TaskSample& sample) { return asked.contains(sample.question); });
}

void add_trace(TaskGroup& group, const TaskTrace& trace) {
  for (const auto* task : group.tasks) {
    if (!share_a_question(*task, trace)) continue;
    group.repeats.push_back({&trace, task->label});
    return;
  }
  if (group.tasks.empty()) group.layers = trace.layers;
  std::erase_if(group.layers, [&](std::int32_t layer) {
    return std::find(trace.layers.begin(), trace.layers.end(), layer) == trace.layers.end();
  });
  group.tasks.push_back(&trace);
}

}  // namespace

double mean_tokens(const TaskTrace& trace) {
  double tokens = 0;
  for (const auto& sample : trace.samples) tokens += static_cast<double>(sample.tokens);
  return tokens / static_cast<double>(trace.samples.size());
}

std::vector<const TaskTrace*> TaskGroup::alike() const {
  std::vector<const TaskTrace*> best;
  for (const auto* shortest : tasks) {
    std::vector<const TaskTrace*> near;
    std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(near), [&](const TaskTrace* task) {
      const double ratio = mean_tokens(*task) / mean_tokens(*shortest);
      return ratio >= 1 && ratio <= kAlike;
    });
    if (near.size() > std::max<size_t>(best.size(), 1)) best = near;
  }
  return best;
}

std::vector<TaskGroup> group_by_model(std::span<const TaskTrace* const> traces) {
  std::vector<TaskGroup> groups;
  std::map<std::string, size_t> place;
  std::map<std::string, int> uses;  // of a name, by different models
  for (const auto* trace : traces) {
    const auto [at, is_new] = place.try_emplace(trace->model_identity, groups.size());
    if (is_new) {
      const int earlier = uses[trace->model_name]++;
      groups.push_back({.model = earlier == 0 ? trace->model_name
                                              : fmt::format("{} ({})", trace->model_name, trace->label),
                        .kind = trace->masked_diffusion ? "masked diffusion" : "autoregressive",
                        .tasks = {},
                        .repeats = {},
                        .layers = {}});
    }
    add_trace(groups[at->second], *trace);
  }
  return groups;
}

}  // namespace buoy::analysis
