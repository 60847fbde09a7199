#include "buoy/analysis/tasks/task_share.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "buoy/base/random.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr double kNullQuantile = 0.95;
constexpr double kTie = 1e-12;  // sums in another order differ by rounding; such permutations are ties

TaskShare of_numbers(std::span<const double> values, std::span<const std::int32_t> task,
                     std::span<const std::uint8_t> weights, int corrections) {
  std::vector<double> count, sum;
  double n = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto t = static_cast<size_t>(task[i]);
    if (t >= count.size()) count.resize(t + 1, 0.0), sum.resize(t + 1, 0.0);
    count[t] += weights[i];
    sum[t] += weights[i] * values[i];
    n += weights[i];
    total += weights[i] * values[i];
  }
  const double mean = total / n;
  double all = 0, between = 0, groups = 0;
  for (size_t i = 0; i < values.size(); ++i) all += weights[i] * (values[i] - mean) * (values[i] - mean);
  for (size_t t = 0; t < count.size(); ++t) {
    if (count[t] == 0) continue;
    const double off = sum[t] / count[t] - mean;
    between += count[t] * off * off;
    ++groups;
  }
  if (!(all > kTie * n * mean * mean) || n <= groups) return {stats::kNan, stats::kNan};
  const double raw = between / all;
  return {raw, 1 - (1 - raw) * std::pow((n - 1) / (n - groups), corrections)};
}

TaskShare of_classes(std::span<const double> values, std::span<const std::int32_t> task,
                     std::span<const std::uint8_t> weights, int corrections) {
  const auto columns = static_cast<size_t>(*std::max_element(values.begin(), values.end())) + 1;
  const auto rows = static_cast<size_t>(*std::max_element(task.begin(), task.end())) + 1;
  std::vector<double> cells(rows * columns, 0.0), row_sum(rows, 0.0), column_sum(columns, 0.0);
  double n = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto t = static_cast<size_t>(task[i]), c = static_cast<size_t>(values[i]);
    cells[t * columns + c] += weights[i];
    row_sum[t] += weights[i];
    column_sum[c] += weights[i];
    n += weights[i];
  }
  double chi = 0;  // over n
  for (size_t t = 0; t < rows; ++t) {
    for (size_t c = 0; c < columns; ++c) {
      const double expected = row_sum[t] * column_sum[c] / n;
      if (expected > 0)
        chi += (cells[t * columns + c] - expected) * (cells[t * columns + c] - expected) / expected / n;
    }
  }
  const auto used = [](const std::vector<double>& sums) {
    return static_cast<double>(std::count_if(sums.begin(), sums.end(), [](double s) { return s > 0; }));
  };
  const double k = used(row_sum), r = used(column_sum);
  if (r < 2 || k < 2 || n <= std::max(k, r)) return {stats::kNan, stats::kNan};
  const double rest = std::max(0.0, chi - corrections * (k - 1) * (r - 1) / (n - 1));
  const double k_less = k - corrections * (k - 1) * (k - 1) / (n - 1),
               r_less = r - corrections * (r - 1) * (r - 1) / (n - 1);
  if (std::min(k_less, r_less) <= 1) return {stats::kNan, stats::kNan};
  return {std::sqrt(chi / std::min(k - 1, r - 1)), std::sqrt(rest / (std::min(k_less, r_less) - 1))};
}

// The labels in another order; a pure function of seed and draw.
std::vector<std::int32_t> permuted(std::vector<std::int32_t> task, std::uint64_t seed, std::int64_t draw) {
  for (size_t i = task.size(); i-- > 1;) {
    const double u = uniform(
        seed, {DrawStream::kTasks, static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(i), 0});
    std::swap(task[i], task[static_cast<size_t>(u * static_cast<double>(i + 1))]);
  }
  return task;
}

struct Permutations {
  std::uint64_t seed;
  std::int64_t count;
};

void permute(std::span<const TaskQuantity> quantities, const TaskLabels& labels,
             const Permutations& permutations, std::vector<TaskTest>& tests) {
  const std::vector<std::uint8_t> once(labels.task.size(), 1);
  std::vector<std::vector<double>> nulls(quantities.size());
  std::vector<std::int64_t> as_much(quantities.size(), 1);
  for (std::int64_t draw = 0; draw < permutations.count; ++draw) {
    const auto task = permuted(labels.task, permutations.seed, draw);
    for (size_t q = 0; q < quantities.size(); ++q) {
      if (std::isnan(tests[q].share.raw)) continue;
      const TaskShare share = quantities[q].share(task, once, 1);
      if (share.raw >= tests[q].share.raw - kTie) ++as_much[q];
      nulls[q].push_back(share.corrected);
    }
  }
  for (size_t q = 0; q < quantities.size(); ++q) {
    if (nulls[q].empty()) continue;
    const auto count = static_cast<double>(permutations.count);
    const auto at = nulls[q].begin() + static_cast<std::ptrdiff_t>(kNullQuantile * count);
    std::nth_element(nulls[q].begin(), at, nulls[q].end());
    tests[q].null = *at;
    tests[q].p = static_cast<double>(as_much[q]) / (count + 1);
  }
}

void resample(std::span<const TaskQuantity> quantities, const TaskLabels& labels,
              const stats::BootstrapOptions& options, std::vector<TaskTest>& tests) {
  std::vector<std::vector<std::uint8_t>> draws;  // [sample][replicate]
  for (const auto& id : labels.ids) draws.push_back(stats::poisson_weights(id, options));
  std::vector<std::vector<double>> shares(quantities.size());
  std::vector<std::uint8_t> weights(labels.ids.size());
  for (std::int64_t b = 0; b < options.replicates; ++b) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = draws[i][static_cast<size_t>(b)];
    for (size_t q = 0; q < quantities.size(); ++q) {
      if (std::isnan(tests[q].share.raw)) continue;
      const double share = quantities[q].share(labels.task, weights, 2).corrected;
      shares[q].push_back(std::isnan(share) ? 0.0 : share);  // no spread left: none between tasks
    }
  }
  const stats::StreamedBootstrap intervals(0, options);
  for (size_t q = 0; q < quantities.size(); ++q) {
    if (shares[q].empty()) continue;
    const stats::Estimate interval = intervals.from_replicates(
        tests[q].share.corrected, static_cast<std::int64_t>(labels.ids.size()), std::move(shares[q]));
    // Where the task tells everything there is no bias, and correcting twice takes too much.
    tests[q].lower = std::min(interval.lower, tests[q].share.corrected);
    tests[q].upper = std::max(interval.upper, tests[q].share.corrected);
  }
}

}  // namespace

TaskShare TaskQuantity::share(std::span<const std::int32_t> task, std::span<const std::uint8_t> weights,
                              int corrections) const {
  if (values.empty()) return {stats::kNan, stats::kNan};
  return classes ? of_classes(values, task, weights, corrections)
                 : of_numbers(values, task, weights, corrections);
}

std::int64_t TaskQuantity::distinct() const {
  return static_cast<std::int64_t>(std::set<double>(values.begin(), values.end()).size());
}

std::vector<TaskTest> test_tasks(std::span<const TaskQuantity> quantities, const TaskLabels& labels,
                                 const stats::BootstrapOptions& options, std::int64_t permutations) {
  const std::vector<std::uint8_t> once(labels.task.size(), 1);
  std::vector<TaskTest> tests;
  for (const auto& quantity : quantities)
    tests.push_back(
        {quantity.share(labels.task, once, 1), stats::kNan, stats::kNan, stats::kNan, stats::kNan});
  permute(quantities, labels, {options.seed, permutations}, tests);
  resample(quantities, labels, options, tests);
  return tests;
}

}  // namespace buoy::analysis
