#include "buoy/analysis/flow/kept_flow.h"

namespace buoy::analysis {

KeptFlow::KeptFlow(const SampleFacts& sample, std::int64_t most)
    : rows_(sample),
      most_(most),
      layers_(sample.layer_count()),
      heads_(sample.heads),
      sees_final_row_(sample.has_final_row()),
      sees_published_(!rows_.begun().published.empty()) {
  flow_.regions = rows_.begun().regions;
}

void KeptFlow::finish(const ObservedSample& sample) {
  flow_ = rows_.flow(sample);
  rows_.let_go();
  if (flow_.regions.answer < 0) return;
  rollout_ = rollout_of_sample(flow_, most_);
  matrices_ = mean_matrices(flow_);
  for (auto& layer : flow_.mean) {
    for (double& share : layer.by_head) share = static_cast<float>(share);
  }
  for (auto& layer : flow_.last) layer = {layer.all, {}, {}, {}};
  flow_.steps = {};
  flow_.final_row = {};
  flow_.published = {};
  flow_.at_step = {};
}

// What finish() would have made, empty.
void KeptFlow::make_room() {
  flow_ = rows_.begun();
  const auto layers = static_cast<size_t>(layers_), regions = static_cast<size_t>(flow_.regions.count());
  const std::vector<double> row(regions, 0.0);
  flow_.steps = {};
  flow_.final_row = {};
  flow_.published = {};
  flow_.mean.assign(layers, {row, row, row, std::vector<double>(regions * static_cast<size_t>(heads_))});
  flow_.last.assign(layers, {row, {}, {}, {}});
  flow_.even = {row, row, row, row};
  const RegionMatrix empty(flow_.regions.count());
  matrices_.of_layer.assign(std::size(kPoolings) * layers, empty);
  matrices_.even.assign(std::size(kPoolings), empty);
  rollout_ = {};
  rollout_.depths = rollout_depths(flow_, layers_, most_);
  const std::vector<RegionMatrix> each(std::size(kPoolings) * rollout_.depths.size(), empty);
  if (sees_final_row_) rollout_.final_row = rollout_.even_final_row = each;
  if (sees_published_ && !rollout_.depths.empty()) rollout_.published = rollout_.even_published = {empty};
  if (!flow_.denoises) return;
  rollout_.denoising_mean = rollout_.denoising_last = each;
  rollout_.even_denoising_mean = rollout_.even_denoising_last = each;
}

void KeptFlow::state(StateArchive& archive) {
  if (flow_.regions.answer < 0) return;
  if (archive.reads()) make_room();
  for (auto& layer : flow_.mean) {
    for (auto* shares : {&layer.all, &layer.revealed, &layer.masked}) archive.numbers(*shares);
    archive.singles(layer.by_head);
  }
  for (auto& layer : flow_.last) archive.numbers(layer.all);
  auto& even = flow_.even;
  for (auto* shares : {&even.all, &even.revealed, &even.masked, &even.last}) archive.numbers(*shares);
  for (auto* matrices : {&matrices_.of_layer, &matrices_.even, &rollout_.final_row, &rollout_.denoising_mean,
                         &rollout_.denoising_last, &rollout_.even_final_row, &rollout_.even_denoising_mean,
                         &rollout_.even_denoising_last, &rollout_.published, &rollout_.even_published}) {
    for (auto& matrix : *matrices) archive.numbers(matrix.values);
  }
}

}  // namespace buoy::analysis
