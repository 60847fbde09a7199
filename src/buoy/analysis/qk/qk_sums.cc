#include "buoy/analysis/qk/qk_sums.h"

#include <algorithm>
#include <cmath>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {}  // namespace

QkSums::QkSums(const trace::ModelCard& model, const AnalysisOptions& options)
    : rules_{options.epsilon, options.share_factor, options.mad_factor},
      layers_(model.layers),
      heads_(model.heads),
      root_(std::sqrt(static_cast<double>(model.head_dim))),
      terms_(layers_ * kWays * kStages * kTerms, options.bootstrap),
      layer_(layers_ * kWays * kStages * kLayerCells),
      head_(layers_ * heads_ * kWays * kStages * kContrasts),
      rotation_(layers_),
      largest_change_(static_cast<size_t>(layers_), 0.0) {}

void QkSums::begin(const ObservedSample& sample) {
  sum_.assign(static_cast<size_t>(head_.cells()), 0.0);
  count_ = sum_;
  asked_.assign(static_cast<size_t>(layers_ * kWays * kStages), 0.0);
  step_sum_.assign(static_cast<size_t>(sample.step_count() * layers_ * kStepCells), 0.0);
  step_count_ = step_sum_;
}

void QkSums::add(const SliceOfSample& slice, const ContrastOf& of, const ContrastValues& values) {
  asked_[static_cast<size_t>(group(slice.layer, of.way, of.stage))] += 1;
  if (std::isnan(values[kAdvantage])) return;
  const std::int64_t cell = ((slice.layer * heads_ + of.head) * kWays + of.way) * kStages + of.stage;
  for (std::int64_t c = 0; c < kContrasts; ++c) {
    const double value = values[static_cast<size_t>(c)];
    if (std::isnan(value)) continue;
    sum_[static_cast<size_t>(cell * kContrasts + c)] += value;
    count_[static_cast<size_t>(cell * kContrasts + c)] += 1;
  }
  if (of.way != kThreeSigmaHead || of.stage != kAfterRotation) return;
  const std::int64_t at = (slice.step_index * layers_ + slice.layer) * kStepCells;
  for (std::int64_t part = 0; part < kStepCells; ++part) {
    step_sum_[static_cast<size_t>(at + part)] += values[kStepParts[static_cast<size_t>(part)]];
    step_count_[static_cast<size_t>(at + part)] += 1;
  }
}

void QkSums::add_rotation(const SliceOfSample& slice, const QkColumns& columns) {
  double& largest = largest_change_[static_cast<size_t>(slice.layer)];
  largest = std::max(largest, columns.largest_norm_change());
  rotation_.add(slice.layer, columns.mean_norm_change());
}

void QkSums::end(const ObservedSample& sample) {
  std::vector<double> terms(static_cast<size_t>(terms_.cells()), stats::kNan);
  for (const std::int64_t layer : sample.layers) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      for (std::int64_t stage = 0; stage < kStages; ++stage) {
        const std::int64_t g = group(layer, way, stage);
        std::array<double, kContrasts> mean{}, heads{};
        double defined = 0;
        for (std::int64_t h = 0; h < heads_; ++h) {
          const std::int64_t cell = (((layer * heads_ + h) * kWays + way) * kStages + stage) * kContrasts;
          defined += count_[static_cast<size_t>(cell + kAdvantage)];
          for (std::int64_t c = 0; c < kContrasts; ++c) {
            const double count = count_[static_cast<size_t>(cell + c)];
            if (count == 0) continue;
            const double value = sum_[static_cast<size_t>(cell + c)] / count;
            head_.add(cell + c, value);
            mean[static_cast<size_t>(c)] += value;
            heads[static_cast<size_t>(c)] += 1;
          }
        }
        for (std::int64_t c = 0; c < kContrasts; ++c) {
          double& value = mean[static_cast<size_t>(c)];
          value = heads[static_cast<size_t>(c)] > 0 ? value / heads[static_cast<size_t>(c)] : stats::kNan;
          layer_.add(g * kLayerCells + c, value);
        }
        const double asked = asked_[static_cast<size_t>(g)];
        layer_.add(g * kLayerCells + kContrasts, asked > 0 ? defined / asked : stats::kNan);
        for (std::int64_t t = 0; t < kTerms; ++t)
          terms[static_cast<size_t>(g * kTerms + t)] = mean[kTermContrasts[static_cast<size_t>(t)]];
      }
    }
  }
  terms_.add(sample.id(), terms);
  const std::int64_t cells = layers_ * kStepCells;
  for (size_t s = 0; s < sample.steps.size(); ++s) {
    stats::MeanErrors& of_step = steps_.try_emplace(sample.steps[s], cells).first->second;
    for (std::int64_t i = 0; i < cells; ++i) {
      const size_t at = s * static_cast<size_t>(cells) + static_cast<size_t>(i);
      of_step.add(i, step_count_[at] > 0 ? step_sum_[at] / step_count_[at] : stats::kNan);
    }
  }
}

}  // namespace buoy::analysis
