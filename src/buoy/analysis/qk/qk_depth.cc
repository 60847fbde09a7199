#include "buoy/analysis/qk/qk_depth.h"

#include <fmt/format.h>

#include <cmath>

#include "buoy/analysis/core/depth.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/qk.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {
namespace {

using Layers = std::vector<LayerTerms>;
using Part = double (*)(const LayerTerms&);

double angle_fraction(const LayerTerms& t) {
  return t.advantage > 0 ? t.direction / t.advantage : stats::kNan;
}
double scale_fraction(const LayerTerms& t) {
  return t.advantage > 0 ? t.scale / t.advantage : stats::kNan;
}
// Bounded, unlike the fractions, which grow without limit where the parts cancel.
double angle_weight(const LayerTerms& t) {
  const double total = std::abs(t.direction) + std::abs(t.scale);
  return total > 0 ? t.direction / total : stats::kNan;
}

double slope_of(const Layers& layers, Part part) {
  std::vector<double> depth, values;
  for (size_t l = 0; l < layers.size(); ++l) {
    depth.push_back(relative_depth(static_cast<std::int64_t>(l), static_cast<std::int64_t>(layers.size())));
    values.push_back(part(layers[l]));
  }
  return stats::slope(depth, values);
}

// Of the terms summed over the layers of a third, so that layers without an advantage weigh little.
double of_third(const Layers& layers, std::int64_t third, Part part) {
  LayerTerms sum;
  for (size_t l = 0; l < layers.size(); ++l) {
    const LayerTerms& t = layers[l];
    const bool inside =
        third_of_layer(static_cast<std::int64_t>(l), static_cast<std::int64_t>(layers.size())) == third;
    if (!inside || std::isnan(t.advantage)) continue;
    sum.advantage += t.advantage, sum.scale += t.scale, sum.direction += t.direction;
  }
  return part(sum);
}

}  // namespace

Table depth_table(const std::vector<DepthSeries>& series, const stats::StreamedBootstrap& bootstrap) {
  const auto& t = schema::qk_depth;
  Table table(t);
  for (const auto& one : series) {
    const auto row = [&](const std::string& name, const std::function<double(const Layers&)>& statistic) {
      std::vector<double> values;
      for (const auto& replicate : one.replicates) values.push_back(statistic(replicate));
      table.add({{t.set, one.set},
                 {t.stage, one.stage},
                 {t.statistic, name},
                 {t.samples, one.samples},
                 {t.value, interval_cells(bootstrap.from_replicates(statistic(one.layers), one.samples,
                                                                    std::move(values)))}});
    };
    row("slope of the fraction due to angle", [](const Layers& l) { return slope_of(l, angle_fraction); });
    row("slope of the fraction due to scale", [](const Layers& l) { return slope_of(l, scale_fraction); });
    row("slope of the angle weight", [](const Layers& l) { return slope_of(l, angle_weight); });
    for (std::int64_t third = 0; third < 3; ++third) {
      row(fmt::format("fraction due to angle of the {}", kThirds[third]),
          [&](const Layers& l) { return of_third(l, third, angle_fraction); });
      row(fmt::format("fraction due to scale of the {}", kThirds[third]),
          [&](const Layers& l) { return of_third(l, third, scale_fraction); });
    }
  }
  return table;
}

}  // namespace buoy::analysis
