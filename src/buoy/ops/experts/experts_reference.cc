#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/ops/experts/experts.h"

namespace buoy::ops {
namespace {

using Doubles = std::vector<double>;

// Indices from the largest value to the smallest; of equal ones the lower first.
std::vector<std::int32_t> falling(const Doubles& values) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
  });
  return order;
}

Doubles softmax(const Doubles& logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  Doubles p;
  for (const double z : logits) p.push_back(std::exp(z - top));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

Doubles sigmoid(const Doubles& logits) {
  Doubles s;
  for (const double z : logits) s.push_back(1 / (1 + std::exp(-z)));
  return s;
}

// Minus infinity for the experts of groups that are dropped.
Doubles within_best_groups(const RouterRule& rule, const Doubles& steered) {
  const auto size = static_cast<size_t>(rule.experts / rule.groups);
  Doubles scores, out(steered.size(), -std::numeric_limits<double>::infinity());
  for (size_t first = 0; first < steered.size(); first += size) {
    Doubles group(steered.begin() + static_cast<std::ptrdiff_t>(first),
                  steered.begin() + static_cast<std::ptrdiff_t>(first + size));
    std::sort(group.rbegin(), group.rend());
    scores.push_back(size > 1 ? group[0] + group[1] : group[0]);
  }
  const auto order = falling(scores);
  for (std::int64_t n = 0; n < rule.kept_groups; ++n) {
    const size_t first = static_cast<size_t>(order[static_cast<size_t>(n)]) * size;
    for (size_t e = first; e < first + size; ++e) out[e] = steered[e];
  }
  return out;
}

double entropy_of(const Doubles& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double entropy = 0;
  for (const double value : values) {
    if (value > 0) entropy -= value / sum * std::log(value / sum);
  }
  return entropy;
}

}  // namespace

void route_reference(const RouterRule& rule, const double* logits, const float* bias,
                     const Routing<double>& out) {
  const Doubles z(logits, logits + rule.experts);
  const bool sigmoids = rule.kind == RouterKind::kSigmoidGroups;
  const Doubles plain = sigmoids ? sigmoid(z) : softmax(z);
  Doubles biased = plain;
  for (size_t e = 0; e < biased.size() && bias != nullptr; ++e) biased[e] += bias[e];
  const auto order = falling(sigmoids ? within_best_groups(rule, biased) : bias != nullptr ? biased : z);
  double sum = 0;
  for (std::int64_t n = 0; n < rule.chosen; ++n) {
    const auto expert = order[static_cast<size_t>(n)];
    out.experts[n] = expert;
    out.weights[n] = (sigmoids ? plain : biased)[static_cast<size_t>(expert)];
    sum += out.weights[n];
  }
  for (std::int64_t n = 0; n < rule.chosen; ++n) {
    if (sigmoids) {
      out.weights[n] *= rule.scale / (rule.chosen > 1 ? sum + 1e-20 : 1);
    } else if (rule.renormalise) {
      out.weights[n] /= sum;
    }
  }
  if (out.entropy != nullptr) *out.entropy = entropy_of(plain);
}

void experts_reference(const ExpertsArgs& args, double* output) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t hidden = args.experts[0].down.rows();
    std::fill_n(output + row * hidden, hidden, 0.0);
    for (std::int64_t n = row * args.chosen; n < (row + 1) * args.chosen; ++n) {
      const ExpertWeights& expert = args.experts[static_cast<size_t>(args.routed[n])];
      const std::int64_t width = expert.gate.rows();
      const float* x = args.input + row * hidden;
      Doubles gate(static_cast<size_t>(width)), up(gate.size());
      linear_reference({x, 1, &expert.gate, nullptr, nullptr}, gate.data());
      linear_reference({x, 1, &expert.up, nullptr, nullptr}, up.data());
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      std::vector<float> column(static_cast<size_t>(width));
      for (std::int64_t j = 0; j < hidden; ++j) {
        to_float(expert.down, j * width, width, column.data());
        output[row * hidden + j] +=
            args.routed_weights[n] * std::inner_product(gate.begin(), gate.end(), column.begin(), 0.0);
      }
    }
  }
}

}  // namespace buoy::ops
