#include "buoy/analysis/qk/qk_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {

QkSampleSums::QkSampleSums(const QkGrid& grid, const SampleFacts& sample)
    : grid_(grid),
      head_means_(static_cast<size_t>(grid.cells()), std::numeric_limits<float>::quiet_NaN()),
      layer_means_(static_cast<size_t>(grid.layers * kWays * kStages * kLayerCells), stats::kNan),
      step_means_(static_cast<size_t>(sample.step_count() * grid.layers * kStepCells), stats::kNan),
      sum_(static_cast<size_t>(grid.cells()), 0.0),
      count_(sum_),
      asked_(static_cast<size_t>(grid.layers * kWays * kStages), 0.0),
      step_sum_(static_cast<size_t>(sample.step_count() * grid.layers * kStepCells), 0.0),
      step_count_(step_sum_),
      rotation_(static_cast<size_t>(sample.step_count() * grid.layers), stats::kNan),
      largest_change_(static_cast<size_t>(grid.layers), 0.0) {}

void QkSampleSums::add(const SliceOfSample& slice, const ContrastOf& of, const ContrastValues& values) {
  asked_[static_cast<size_t>(grid_.group(slice.layer, of.way, of.stage))] += 1;
  if (std::isnan(values[kAdvantage])) return;
  const std::int64_t cell = grid_.cell(slice.layer, of.head, of.way, of.stage);
  for (std::int64_t c = 0; c < kContrasts; ++c) {
    const double value = values[static_cast<size_t>(c)];
    if (std::isnan(value)) continue;
    sum_[static_cast<size_t>(cell + c)] += value;
    count_[static_cast<size_t>(cell + c)] += 1;
  }
  if (of.way != kThreeSigmaHead || of.stage != kAfterRotation) return;
  const std::int64_t at = (slice.step_index * grid_.layers + slice.layer) * kStepCells;
  for (std::int64_t part = 0; part < kStepCells; ++part) {
    step_sum_[static_cast<size_t>(at + part)] += values[kStepParts[static_cast<size_t>(part)]];
    step_count_[static_cast<size_t>(at + part)] += 1;
  }
}

void QkSampleSums::add_rotation(const SliceOfSample& slice, const QkColumns& columns) {
  double& largest = largest_change_[static_cast<size_t>(slice.layer)];
  largest = std::max(largest, columns.largest_norm_change());
  rotation_[static_cast<size_t>(slice.step_index * grid_.layers + slice.layer)] = columns.mean_norm_change();
}

void QkSampleSums::finish() {
  for (std::int64_t g = 0; g < grid_.layers * kWays * kStages; ++g) {
    const std::int64_t layer = g / (kWays * kStages), way = g / kStages % kWays, stage = g % kStages;
    std::array<double, kContrasts> mean{}, heads{};
    double defined = 0;
    for (std::int64_t h = 0; h < grid_.heads; ++h) {
      const auto cell = static_cast<size_t>(grid_.cell(layer, h, way, stage));
      defined += count_[cell + kAdvantage];
      for (size_t c = 0; c < kContrasts; ++c) {
        if (count_[cell + c] == 0) continue;
        const double value = sum_[cell + c] / count_[cell + c];
        head_means_[cell + c] = static_cast<float>(value);
        mean[c] += value;
        heads[c] += 1;
      }
    }
    double* to = layer_means_.data() + g * kLayerCells;
    for (size_t c = 0; c < kContrasts; ++c) to[c] = heads[c] > 0 ? mean[c] / heads[c] : stats::kNan;
    const double asked = asked_[static_cast<size_t>(g)];
    to[kContrasts] = asked > 0 ? defined / asked : stats::kNan;
  }
  for (size_t i = 0; i < step_means_.size(); ++i)
    step_means_[i] = step_count_[i] > 0 ? step_sum_[i] / step_count_[i] : stats::kNan;
  for (auto* let_go : {&sum_, &count_, &asked_, &step_sum_, &step_count_}) *let_go = {};
}

void QkSampleSums::state(StateArchive& archive) {
  archive.numbers(head_means_);
  for (auto* values : {&layer_means_, &step_means_, &rotation_, &largest_change_}) archive.numbers(*values);
}

QkSums::QkSums(const trace::ModelCard& model, const AnalysisOptions& options)
    : rules_(options.rules()),
      layers_(model.layers),
      heads_(model.heads),
      grid_{layers_, heads_},
      root_(std::sqrt(static_cast<double>(model.head_dim))),
      terms_(layers_ * kWays * kStages * kTerms, options.bootstrap),
      layer_(layers_ * kWays * kStages * kLayerCells),
      head_(grid_.cells()),
      rotation_(layers_),
      largest_change_(static_cast<size_t>(layers_), 0.0) {}

void QkSums::add(const ObservedSample& sample, const QkSampleSums& of) {
  std::vector<double> terms(static_cast<size_t>(terms_.cells()), stats::kNan);
  for (const std::int64_t layer : sample.layers) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      for (std::int64_t stage = 0; stage < kStages; ++stage) {
        const std::int64_t g = group(layer, way, stage);
        for (std::int64_t h = 0; h < heads_; ++h) {
          const std::int64_t cell = grid_.cell(layer, h, way, stage);
          for (std::int64_t c = 0; c < kContrasts; ++c)
            head_.add(cell + c, of.head_means_[static_cast<size_t>(cell + c)]);
        }
        const double* mean = of.layer_means_.data() + g * kLayerCells;
        for (std::int64_t c = 0; c < kLayerCells; ++c) layer_.add(g * kLayerCells + c, mean[c]);
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
      of_step.add(i, of.step_means_[at]);
    }
    for (std::int64_t l = 0; l < layers_; ++l)
      rotation_.add(l, of.rotation_[s * static_cast<size_t>(layers_) + static_cast<size_t>(l)]);
  }
  for (size_t l = 0; l < largest_change_.size(); ++l)
    largest_change_[l] = std::max(largest_change_[l], of.largest_change_[l]);
}

}  // namespace buoy::analysis
