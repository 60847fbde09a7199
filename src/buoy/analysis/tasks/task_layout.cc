#include "buoy/analysis/tasks/task_layout.h"

#include <algorithm>
#include <cmath>

namespace buoy::analysis {
namespace {

// Numbers that are themselves drawn: mean and variance of each sample's.
struct Placement {
  double mean, variance;
};

double variance_share(const std::vector<Placement>& of_samples, const TaskLabels& labels) {
  std::vector<double> sum(static_cast<size_t>(labels.tasks), 0.0), count(sum);
  double total = 0, all = 0, between = 0;
  for (size_t i = 0; i < of_samples.size(); ++i) {
    sum[static_cast<size_t>(labels.task[i])] += of_samples[i].mean;
    ++count[static_cast<size_t>(labels.task[i])];
    total += of_samples[i].mean;
  }
  const double mean = total / static_cast<double>(of_samples.size());
  for (const auto& one : of_samples) all += one.variance + (one.mean - mean) * (one.mean - mean);
  for (size_t t = 0; t < sum.size(); ++t) {
    const double off = sum[t] / count[t] - mean;
    between += count[t] * off * off;
  }
  return all > 0 ? between / all : 0.0;
}

double association(std::span<const TaskSample* const> samples, const TaskLabels& labels) {
  constexpr size_t kTypes = kTokenTypes.size();
  std::vector<double> cells(static_cast<size_t>(labels.tasks) * kTypes, 0.0),
      rows(static_cast<size_t>(labels.tasks), 0.0), columns(kTypes, 0.0);
  const auto n = static_cast<double>(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<size_t>(labels.task[i]);
    ++rows[t];
    for (size_t c = 0; c < kTypes; ++c) {
      cells[t * kTypes + c] += samples[i]->type_shares[c];
      columns[c] += samples[i]->type_shares[c];
    }
  }
  double chi = 0;  // over n
  for (size_t at = 0; at < cells.size(); ++at) {
    const double expected = rows[at / kTypes] * columns[at % kTypes] / n;
    if (expected > 0) chi += (cells[at] - expected) * (cells[at] - expected) / expected / n;
  }
  const auto used = std::count_if(columns.begin(), columns.end(), [](double sum) { return sum > 0; });
  const auto least = std::min<std::int64_t>(labels.tasks, used) - 1;
  return least > 0 ? std::sqrt(chi / static_cast<double>(least)) : 0.0;
}

}  // namespace

TaskLayout task_layout(std::span<const TaskSample* const> samples, const TaskLabels& labels) {
  std::vector<Placement> relative, absolute;
  for (const auto* sample : samples) {
    const auto n = static_cast<double>(sample->tokens);
    absolute.push_back({(n - 1) / 2, (n * n - 1) / 12});
    const double scale = n > 1 ? 1 / (n - 1) : 0.0;
    relative.push_back({absolute.back().mean * scale, absolute.back().variance * scale * scale});
  }
  return {variance_share(relative, labels), variance_share(absolute, labels), association(samples, labels)};
}

}  // namespace buoy::analysis
