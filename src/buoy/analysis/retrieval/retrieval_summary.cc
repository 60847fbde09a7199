#include "buoy/analysis/retrieval/retrieval_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "buoy/analysis/core/depth.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {
namespace {

// Read off the published heatmaps, counts before rounding (docs/measurements.md 9). Which variant the authors
// scored with is not known.
struct Published {
  double llada = stats::kNan, dream = stats::kNan;
};
constexpr Published kMean{0.272, 0.230}, kPearson{0.87, 0.72};
constexpr std::array kThresholds = {0.1, 0.3, 0.5, 0.8};
constexpr std::array<Published, 4> kHeadsOver = {{{736, 344}, {286, 235}, {204, 174}, {57, 51}}};
constexpr std::array<Published, 3> kThirdMeans = {{{0.152, 0.092}, {0.246, 0.235}, {0.407, 0.349}}};
constexpr std::array<Published, 3> kThirdStrong = {{{0.006, 0.063}, {0.148, 0.187}, {0.426, 0.396}}};
constexpr std::array<Published, 2> kHalfStrong = {{{19, 26}, {185, 148}}};
constexpr double kPublishedLlada = 1024, kPublishedDream = 784;  // heads
constexpr double kStrong = 0.5;

double mean_where(const std::vector<double>& layers, const std::function<bool(std::int64_t)>& wanted) {
  double sum = 0, count = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    if (std::isnan(layers[l]) || !wanted(static_cast<std::int64_t>(l))) continue;
    sum += layers[l];
    count += 1;
  }
  return count > 0 ? sum / count : stats::kNan;
}

double correlation_with_depth(const std::vector<double>& layers) {
  std::vector<double> depth;
  for (size_t l = 0; l < layers.size(); ++l) depth.push_back(static_cast<double>(l));
  return stats::pearson(depth, layers);
}

class Summary {
 public:
  Summary(const ScoreVariant& variant, const stats::StreamedBootstrap& bootstrap, Table& table)
      : variant_(variant), bootstrap_(bootstrap), table_(table) {}

  void write() const {
    const auto layers = static_cast<std::int64_t>(variant_.layers.size());
    const auto per_layer =
        static_cast<std::int64_t>(variant_.heads.size()) / std::max<std::int64_t>(1, layers);
    row("mean score", of_layers([](const auto& v) { return mean_where(v, [](auto) { return true; }); }),
        kMean);
    const auto layer_of = [&](size_t head) { return static_cast<std::int64_t>(head) / per_layer; };
    const auto observed = count([](size_t) { return true; }, -1e300);
    for (size_t t = 0; t < kThresholds.size(); ++t) {
      const double over = count([](size_t) { return true; }, kThresholds[t]);
      row(fmt::format("heads >= {}", kThresholds[t]), plain(over), kHeadsOver[t]);
      row(fmt::format("share of heads >= {}", kThresholds[t]), plain(over / observed),
          {kHeadsOver[t].llada / kPublishedLlada, kHeadsOver[t].dream / kPublishedDream});
    }
    row("share of heads at exactly 0",
        plain(static_cast<double>(std::count(variant_.heads.begin(), variant_.heads.end(), 0.0)) / observed),
        {});
    for (std::int64_t third = 0; third < 3; ++third) {
      const auto inside = [&](std::int64_t l) { return third_of_layer(l, layers) == third; };
      row(fmt::format("mean score of the {}", kThirds[third]),
          of_layers([&](const auto& v) { return mean_where(v, inside); }),
          kThirdMeans[static_cast<size_t>(third)]);
      const auto in_third = [&](size_t head) { return inside(layer_of(head)); };
      row(fmt::format("share of heads >= {} of the {}", kStrong, kThirds[third]),
          plain(count(in_third, kStrong) / count(in_third, -1e300)),
          kThirdStrong[static_cast<size_t>(third)]);
    }
    for (std::int64_t half = 0; half < 2; ++half) {
      const auto inside = [&](size_t head) { return (2 * layer_of(head) >= layers) == (half == 1); };
      row(fmt::format("heads >= {} in the {} half", kStrong, half == 0 ? "first" : "second"),
          plain(count(inside, kStrong)), kHalfStrong[static_cast<size_t>(half)]);
    }
    row("pearson of layer and layer mean", of_layers([](const auto& v) { return correlation_with_depth(v); }),
        kPearson);
  }

 private:
  stats::Estimate plain(double value) const { return {.value = value, .samples = variant_.samples}; }

  stats::Estimate of_layers(const std::function<double(const std::vector<double>&)>& statistic) const {
    std::vector<double> values;
    const size_t replicates = variant_.replicates.empty() ? 0 : variant_.replicates[0].size();
    std::vector<double> layers(variant_.layers.size());
    for (size_t b = 0; b < replicates; ++b) {
      for (size_t l = 0; l < layers.size(); ++l) layers[l] = variant_.replicates[l][b];
      values.push_back(statistic(layers));
    }
    return bootstrap_.from_replicates(statistic(variant_.layers), variant_.samples, std::move(values));
  }

  double count(const std::function<bool(size_t)>& wanted, double threshold) const {
    double heads = 0;
    for (size_t i = 0; i < variant_.heads.size(); ++i) heads += wanted(i) && variant_.heads[i] >= threshold;
    return heads;
  }

  void row(const std::string& statistic, const stats::Estimate& value, const Published& published) const {
    const auto& t = schema::retrieval_summary;
    const bool is_mean = statistic.starts_with("mean score");
    table_.add({{t.variant, variant_.name},
                {t.statistic, statistic},
                {t.value, interval_cells(value)},
                {t.chance, is_mean ? number_cell(variant_.chance) : Cell()},
                {t.paper_llada, number_cell(published.llada)},
                {t.paper_dream, number_cell(published.dream)}});
  }

  const ScoreVariant& variant_;
  const stats::StreamedBootstrap& bootstrap_;
  Table& table_;
};

}  // namespace

Table summarise_scores(const std::vector<ScoreVariant>& variants, const stats::StreamedBootstrap& bootstrap) {
  Table table(schema::retrieval_summary);
  for (const auto& variant : variants) Summary(variant, bootstrap, table).write();
  return table;
}

}  // namespace buoy::analysis
