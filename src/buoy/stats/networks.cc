#include "buoy/stats/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/stats/draw_items.h"
#include "buoy/stats/mean_interval.h"
#include "buoy/stats/student_t.h"

namespace buoy::stats {
namespace {

// As tables of draw_items().
constexpr std::uint32_t kQuestionDraws = 0, kNetworkDraws = 1;

struct Spread {
  double mean = 0, variance = 0;  // of the population
};

Spread spread_of(std::span<const double> values) {
  Spread out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean) / n;
  return out;
}

void check_networks(const NetworkScores& scores) {
  if (scores.networks.empty()) throw_usage_error({"networks", "at least one", "none"});
  const std::size_t questions = scores.networks[0].size();
  if (questions == 0) throw_usage_error({"networks", "at least one question", "none"});
  for (const auto& network : scores.networks) {
    if (network.size() == questions) continue;
    throw_usage_error({"networks", fmt::format("{} questions, the same for all", questions),
                       fmt::to_string(network.size())});
  }
}

// Variances over resamples of the mean over all.
struct TwoLevels {
  double both = 0, questions = 0;
};

TwoLevels resample_levels(const NetworkScores& scores, const BootstrapOptions& options) {
  const auto networks = scores.networks.size(), questions = scores.networks[0].size();
  const double origin = scores.networks[0][0];  // values that are all equal have no spread of rounding
  std::vector<double> both, of_questions, times(questions), means(networks);
  for (std::uint32_t resample = 0; resample < static_cast<std::uint32_t>(options.replicates); ++resample) {
    std::fill(times.begin(), times.end(), 0.0);
    draw_items(options.seed, {kQuestionDraws, resample}, static_cast<std::uint32_t>(questions),
               [&](std::size_t question) { ++times[question]; });
    for (std::size_t n = 0; n < networks; ++n) {
      means[n] = 0;
      for (std::size_t q = 0; q < questions; ++q) means[n] += times[q] * (scores.networks[n][q] - origin);
      means[n] /= static_cast<double>(questions);
    }
    of_questions.push_back(spread_of(means).mean);
    double sum = 0;
    draw_items(options.seed, {kNetworkDraws, resample}, static_cast<std::uint32_t>(networks),
               [&](std::size_t network) { sum += means[network]; });
    both.push_back(sum / static_cast<double>(networks));
  }
  return {spread_of(both).variance, spread_of(of_questions).variance};
}

// What is left of values without the means of their network and of their question, as a part of the variance
// of the mean over all.
double variance_of_rest(const NetworkScores& scores, std::span<const double> network_means) {
  const auto networks = static_cast<double>(scores.networks.size()),
             questions = static_cast<double>(scores.networks[0].size());
  const double mean = spread_of(network_means).mean;
  double squares = 0;
  for (std::size_t q = 0; q < scores.networks[0].size(); ++q) {
    double question_mean = 0;
    for (const auto& network : scores.networks) question_mean += network[q] / networks;
    for (std::size_t n = 0; n < scores.networks.size(); ++n) {
      const double rest = scores.networks[n][q] - network_means[n] - question_mean + mean;
      squares += rest * rest;
    }
  }
  return squares / ((networks - 1) * (questions - 1)) / (networks * questions);
}

}  // namespace

Estimate networks_estimate(std::span<const double> network_means, double confidence) {
  if (network_means.empty()) throw_usage_error({"networks", "at least one", "none"});
  const auto count = static_cast<std::int64_t>(network_means.size());
  const Spread spread = spread_of(network_means);
  const auto [lower, upper] = student_interval(
      {spread.mean, std::sqrt(spread.variance / static_cast<double>(count)), count}, confidence);
  return {.value = spread.mean,
          .lower = lower,
          .upper = upper,
          .samples = count,
          .deviation = std::sqrt(spread.variance)};
}

Estimate two_level_estimate(const NetworkScores& scores, const BootstrapOptions& options) {
  check_networks(scores);
  const auto networks = static_cast<double>(scores.networks.size()),
             questions = static_cast<double>(scores.networks[0].size());
  std::vector<double> means;
  for (const auto& network : scores.networks) means.push_back(spread_of(network).mean);
  const Spread spread = spread_of(means);
  Estimate out{.value = spread.mean,
               .samples = static_cast<std::int64_t>(scores.networks.size()),
               .deviation = std::sqrt(spread.variance)};
  if (networks < 2 || questions < 2) return out;
  const TwoLevels drawn = resample_levels(scores, options);
  const double of_networks = std::max(0.0, drawn.both - drawn.questions) * networks / (networks - 1),
               of_questions = drawn.questions * questions / (questions - 1);
  // The rest counts once. It is in the means of networks, again in their resampled questions, and in the
  // means of questions.
  const double rest = variance_of_rest(scores, means);
  const double variance = std::max({of_networks + of_questions - 2 * rest, of_questions, of_networks - rest});
  if (variance == 0) {
    out.lower = out.upper = out.value;
    return out;
  }
  const double freedom = std::max(
      1.0, variance * variance /
               (of_networks * of_networks / (networks - 1) + of_questions * of_questions / (questions - 1)));
  const double reach = two_sided_t_between(options.confidence, freedom) * std::sqrt(variance);
  out.lower = out.value - reach;
  out.upper = out.value + reach;
  return out;
}

}  // namespace buoy::stats
