#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// Samples of several tasks: how tests resample them.
struct TaskLabels {
  std::vector<std::int32_t> task;  // of each sample, from 0
  std::vector<std::string> ids;    // of each sample, different in different tasks
  std::int32_t tasks = 0;
};

// How much of a quantity the task tells. NaN: it is the same in all samples.
struct TaskShare {
  double raw = 0, corrected = 0;
};

// One number or one class per sample.
struct TaskQuantity {
  std::vector<double> values;  // classes: whole numbers from 0; empty: not known
  bool classes = false;

  // Of numbers: the share of their variance between tasks (eta squared), and corrected so that its mean over
  // all ways to deal out the labels is 0 (epsilon squared). Of classes: Cramer's V, and corrected as Bergsma
  // (2013) does. A sample counts `weights` times. Bootstrap replicates are corrected twice: they repeat the
  // bias of what they are drawn from.
  TaskShare share(std::span<const std::int32_t> task, std::span<const std::uint8_t> weights,
                  int corrections) const;
  std::int64_t distinct() const;  // different values
};

struct TaskTest {
  TaskShare share;
  double lower = 0, upper = 0;  // bootstrap over samples, of the corrected share
  double null = 0;              // 95% of the permutations of labels stay below
  double p = 0;                 // share of permutations that give as much or more, this one counted in
};

// Enough for a p value below 0.05 / 200 layers.
inline constexpr std::int64_t kTaskPermutations = 4999;

// All quantities with the same permutations and the same replicates.
std::vector<TaskTest> test_tasks(std::span<const TaskQuantity> quantities, const TaskLabels& labels,
                                 const stats::BootstrapOptions& options,
                                 std::int64_t permutations = kTaskPermutations);

}  // namespace buoy::analysis
