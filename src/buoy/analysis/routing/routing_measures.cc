#include "buoy/analysis/routing/routing_measures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "buoy/base/random.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr std::uint32_t kPermutations = 16;

std::vector<double> counts_of(const Routes& routes, std::span<const std::int32_t> tokens) {
  std::vector<double> counts(static_cast<size_t>(routes.count), 0);
  for (const auto token : tokens) {
    for (const auto expert : routes.of(token)) ++counts[static_cast<size_t>(expert)];
  }
  return counts;
}

// A class for each of the tokens that have one, and their tokens.
struct Labelled {
  std::vector<std::int32_t> tokens, classes;
  std::int64_t class_count = 0;
};

Labelled labelled(const Routes& routes, std::span<const std::int32_t> class_of_token) {
  Labelled out;
  for (std::int64_t t = 0; t < routes.tokens(); ++t) {
    const auto label = class_of_token[static_cast<size_t>(t)];
    if (label < 0 || !routes.ran(t)) continue;
    out.tokens.push_back(static_cast<std::int32_t>(t));
    out.classes.push_back(label);
    out.class_count = std::max<std::int64_t>(out.class_count, label + 1);
  }
  return out;
}

double information(const Routes& routes, const Labelled& labels) {
  std::vector<double> joint(static_cast<size_t>(labels.class_count * routes.count), 0),
      of_class(static_cast<size_t>(labels.class_count), 0), of_expert(static_cast<size_t>(routes.count), 0);
  for (size_t i = 0; i < labels.tokens.size(); ++i) {
    const auto label = static_cast<size_t>(labels.classes[i]);
    for (const auto expert : routes.of(labels.tokens[i])) {
      ++joint[label * static_cast<size_t>(routes.count) + static_cast<size_t>(expert)];
      ++of_class[label];
      ++of_expert[static_cast<size_t>(expert)];
    }
  }
  const double all = static_cast<double>(labels.tokens.size()) * static_cast<double>(routes.chosen);
  double sum = 0;
  for (size_t cell = 0; cell < joint.size(); ++cell) {
    if (joint[cell] == 0) continue;
    const auto count = static_cast<size_t>(routes.count);
    sum +=
        joint[cell] / all * std::log(joint[cell] * all / (of_class[cell / count] * of_expert[cell % count]));
  }
  return std::max(0.0, sum);
}

void permute_classes(std::vector<std::int32_t>& classes, std::uint32_t draw) {
  for (size_t i = classes.size(); i-- > 1;) {
    const double u = uniform(0, {DrawStream::kRouting, draw, static_cast<std::uint32_t>(i), 0});
    std::swap(classes[i], classes[static_cast<size_t>(u * static_cast<double>(i + 1))]);
  }
}

}  // namespace

WithNull imbalance_of(const Routes& routes) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t t = 0; t < routes.tokens(); ++t) {
    if (routes.ran(t)) tokens.push_back(static_cast<std::int32_t>(t));
  }
  if (tokens.empty()) return {stats::kNan, stats::kNan};
  const auto n = static_cast<double>(tokens.size()), k = static_cast<double>(routes.chosen),
             experts = static_cast<double>(routes.count);
  double squares = 0;
  for (const double count : counts_of(routes, tokens)) squares += count * count;
  return {experts * squares / (n * k * n * k), 1 + (experts - k) / (k * n)};
}

WithNull change_of(const Routes& now, const Routes& before, std::span<const std::int32_t> tokens) {
  if (tokens.size() < 2) return {stats::kNan, stats::kNan};
  double same = 0;
  for (const auto token : tokens) {
    const auto old = before.of(token);
    for (const auto expert : now.of(token)) same += std::find(old.begin(), old.end(), expert) != old.end();
  }
  const auto counts = counts_of(now, tokens), old_counts = counts_of(before, tokens);
  double pairs = 0;
  for (size_t e = 0; e < counts.size(); ++e) pairs += counts[e] * old_counts[e];
  const auto n = static_cast<double>(tokens.size()), k = static_cast<double>(now.chosen);
  return {1 - same / (n * k), 1 - pairs / (n * n * k)};
}

WithNull specialisation_of(const Routes& routes, std::span<const std::int32_t> class_of_token) {
  Labelled labels = labelled(routes, class_of_token);
  const auto some = labels.classes.empty() ? -1 : labels.classes.front();
  if (std::all_of(labels.classes.begin(), labels.classes.end(), [&](auto label) { return label == some; }))
    return {stats::kNan, stats::kNan};
  WithNull out{information(routes, labels), 0};
  for (std::uint32_t draw = 0; draw < kPermutations; ++draw) {
    permute_classes(labels.classes, draw);
    out.null += information(routes, labels) / kPermutations;
  }
  return out;
}

}  // namespace buoy::analysis
