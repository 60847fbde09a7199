#include "buoy/ops/experts/experts_cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/ops/pointwise/elementwise.h"

namespace buoy::ops {
namespace {

constexpr double kOut = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kRoutedRows = 16;  // of one task

// Numbers of one row, in double: they cost nothing beside the products of the experts.
struct RouterRow {
  std::vector<double> plain, steering;

  explicit RouterRow(std::int64_t experts)
      : plain(static_cast<size_t>(experts)), steering(static_cast<size_t>(experts)) {}
};

// The place of the largest; of equal ones the first.
std::int64_t best_of(const std::vector<double>& values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

void fill_softmax(const float* logits, const float* bias, RouterRow& row) {
  const auto count = static_cast<std::int64_t>(row.plain.size());
  const double top = *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::int64_t e = 0; e < count; ++e)
    sum += row.plain[static_cast<size_t>(e)] = std::exp(logits[e] - top);
  for (size_t e = 0; e < row.plain.size(); ++e) {
    row.plain[e] /= sum;
    row.steering[e] = bias != nullptr ? row.plain[e] + bias[e] : logits[e];
  }
}

void fill_sigmoids(const RouterRule& rule, const float* logits, const float* bias, RouterRow& row) {
  for (size_t e = 0; e < row.plain.size(); ++e) {
    row.plain[e] = 1 / (1 + std::exp(-double{logits[e]}));
    row.steering[e] = row.plain[e] + (bias != nullptr ? bias[e] : 0.0f);
  }
  if (rule.kept_groups == rule.groups) return;
  const auto size = static_cast<size_t>(rule.experts / rule.groups);
  std::vector<double> scores;
  for (size_t first = 0; first < row.steering.size(); first += size) {
    double best = kOut, second = kOut;
    for (size_t e = first; e < first + size; ++e) {
      const double value = row.steering[e];
      second = std::max(second, std::min(best, value));
      best = std::max(best, value);
    }
    scores.push_back(size > 1 ? best + second : best);
  }
  std::vector<bool> kept(scores.size(), false);
  for (std::int64_t n = 0; n < rule.kept_groups; ++n) {
    const auto group = static_cast<size_t>(best_of(scores));
    kept[group] = true;
    scores[group] = kOut;
  }
  for (size_t e = 0; e < row.steering.size(); ++e) {
    if (!kept[e / size]) row.steering[e] = kOut;
  }
}

double entropy_of_row(const std::vector<double>& plain) {
  double sum = 0, logs = 0;
  for (const double value : plain) {
    sum += value;
    if (value > 0) logs += value * std::log(value);
  }
  return sum > 0 ? std::log(sum) - logs / sum : 0;
}

void route_row(const RouterRule& rule, const float* logits, const float* bias, RouterRow& row,
               const Routing<float>& out) {
  const bool sigmoids = rule.kind == RouterKind::kSigmoidGroups;
  if (sigmoids) {
    fill_sigmoids(rule, logits, bias, row);
  } else {
    fill_softmax(logits, bias, row);
  }
  const auto weight_of = [&](std::int32_t expert) {
    const double plain = row.plain[static_cast<size_t>(expert)];
    return sigmoids || bias == nullptr ? plain : plain + bias[expert];
  };
  double sum = 0;
  for (std::int64_t n = 0; n < rule.chosen; ++n) {
    const auto expert = static_cast<std::int32_t>(best_of(row.steering));
    row.steering[static_cast<size_t>(expert)] = kOut;
    out.experts[n] = expert;
    sum += weight_of(expert);
  }
  const double divisor = sigmoids ? (rule.chosen > 1 ? sum + 1e-20 : 1) : rule.renormalise ? sum : 1;
  for (std::int64_t n = 0; n < rule.chosen; ++n)
    out.weights[n] = static_cast<float>(weight_of(out.experts[n]) / divisor * (sigmoids ? rule.scale : 1.0));
  if (out.entropy != nullptr) *out.entropy = static_cast<float>(entropy_of_row(row.plain));
}

}  // namespace

void route_cpu(const Context& context, const RouterRule& rule, const RouteArgs& args) {
  context.threads.run((args.rows + kRoutedRows - 1) / kRoutedRows, [&](std::int64_t task, int) {
    RouterRow work(rule.experts);
    for (std::int64_t row = task * kRoutedRows; row < std::min(args.rows, (task + 1) * kRoutedRows); ++row) {
      const Routing<float> out{args.out.experts + row * rule.chosen, args.out.weights + row * rule.chosen,
                               args.out.entropy != nullptr ? args.out.entropy + row : nullptr};
      route_row(rule, args.logits + row * rule.experts, args.bias, work, out);
    }
  });
}

void experts_cpu(const Context& context, const ExpertsArgs& args, ExpertsScratch& scratch) {
  const std::int64_t hidden = args.experts[0].down.rows();
  const RowsByExpert by_expert =
      rows_by_expert({args.routed, static_cast<size_t>(args.rows * args.chosen)}, std::ssize(args.experts));
  std::fill_n(args.output, args.rows * hidden, 0.0f);
  for (size_t e = 0; e < args.experts.size(); ++e) {
    const std::int64_t* pairs = by_expert.pairs.data() + by_expert.first[e];
    const std::int64_t rows = by_expert.first[e + 1] - by_expert.first[e];
    if (rows == 0) continue;
    const ExpertWeights& expert = args.experts[e];
    const std::int64_t width = expert.gate.rows();
    float* gathered = scratch.gathered.reserve(static_cast<size_t>(rows * hidden));
    float* gate = scratch.gate.reserve(static_cast<size_t>(rows * width));
    float* up = scratch.up.reserve(static_cast<size_t>(rows * width));
    context.threads.run(rows, [&](std::int64_t n, int) {
      std::copy_n(args.input + pairs[n] / args.chosen * hidden, hidden, gathered + n * hidden);
    });
    linear(context, {gathered, rows, &expert.gate, nullptr, gate}, scratch.linear);
    linear(context, {gathered, rows, &expert.up, nullptr, up}, scratch.linear);
    swiglu(context, gate, up, rows * width);
    linear(context, {gate, rows, &expert.down, nullptr, gathered}, scratch.linear);
    context.threads.run(rows, [&](std::int64_t n, int) {
      const float weight = args.routed_weights[pairs[n]];
      const float* from = gathered + n * hidden;
      float* to = args.output + pairs[n] / args.chosen * hidden;
      for (std::int64_t j = 0; j < hidden; ++j) to[j] += weight * from[j];
    });
  }
}

}  // namespace buoy::ops
