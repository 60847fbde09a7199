#include "buoy/analysis/floating/floating_state.h"

#include <algorithm>

#include "buoy/analysis/core/state_fields.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {

std::int64_t composition_index(Rule rule) {
  const auto at = std::find(kCompositionRules.begin(), kCompositionRules.end(), rule);
  return at == kCompositionRules.end() ? -1 : at - kCompositionRules.begin();
}

FloatingGrids::FloatingGrids(const LayerAxis& axis)
    : rules({axis.size(), kViews, kRuleCount}),
      steps({axis.size(), kStepBins, kViews, kRuleCount}),
      heads({axis.size(), axis.heads(), kRuleCount}),
      sets({axis.size(), kLists, kViews}),
      measures({axis.size(), kViews, kMeasureCount}) {}

FloatingSample::FloatingSample(const LayerAxis& axis, const SampleFacts& sample)
    : grids(axis),
      sizes(grids.rules.size()),
      shares(grids.rules.size()),
      fires(grids.rules.size()),
      undefined(grids.rules.size()),
      measured(grids.measures.size()),
      step_sizes(grids.steps.size()),
      head_sizes(grids.heads.size()),
      head_fires(grids.heads.size()),
      kept_step_shares(grids.steps.size()),
      kept_head_shares(grids.heads.size()),
      composition(grids.sets.size()),
      tally(kLists * kViews, sample.has_texts ? sample.tokens : 0),
      step_shares(grids.steps.size()),
      head_shares(grids.heads.size()) {}

void FloatingSample::finish(const ObservedSample& /*sample*/) {
  kept_step_shares.take(step_shares);
  kept_head_shares.take(head_shares);
}

void FloatingSample::state(StateArchive& archive) {
  for (auto* moments : {&sizes, &shares, &fires, &undefined, &measured}) archive_means(archive, *moments);
  for (auto* moments : {&step_sizes, &head_sizes, &head_fires}) archive_whole(archive, *moments);
  for (auto* moments : {&kept_step_shares, &kept_head_shares}) archive_rounded(archive, *moments);
  composition.state(archive);
  tally.state(archive);
}

void FloatingSample::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  const std::int64_t bin = step_bin(layer.sample, layer.s());
  for (std::int64_t h = -1; h < layer.sample.heads; ++h) take_vector(layer, bin, h);
}

void FloatingSample::take_vector(const LayerView& layer, std::int64_t bin, std::int64_t head) {
  Detection& found = layer.detection();
  const auto received = found.received(head);
  const std::int64_t view = head < 0 ? kHeadMean : kPerHead;
  for (std::int64_t r = 0; r < kRuleCount; ++r) {
    const Rule rule = kRules[static_cast<size_t>(r)];
    const Anchors& anchors = found.anchors(head, rule);
    const double size = anchors.defined ? static_cast<double>(anchors.positions.size()) : stats::kNan;
    const double share = anchors.defined ? share_of(anchors.positions, received) : stats::kNan;
    const std::int64_t cell = grids.rules.at({layer.l, view, r});
    sizes.add(cell, size);
    shares.add(cell, share);
    fires.add(cell, anchors.fired ? 1 : 0);
    undefined.add(cell, anchors.defined ? 0 : 1);
    const std::int64_t by_step = grids.steps.at({layer.l, bin, view, r});
    step_sizes.add(by_step, size);
    step_shares.add(by_step, share);
    if (view == kPerHead) {
      const std::int64_t by_head = grids.heads.at({layer.l, head, r});
      head_sizes.add(by_head, size);
      head_shares.add(by_head, share);
      head_fires.add(by_head, anchors.fired ? 1 : 0);
    }
    const std::int64_t list = composition_index(rule);
    if (list < 0) continue;
    composition.count(grids.sets.at({layer.l, list, view}), layer.forward.classes, anchors.positions);
    if (layer.sample.has_texts) tally.count(list * kViews + view, layer.forward, anchors.positions);
  }
  const std::array measures = {found.entropy(head), found.anchor_count(head), found.top_share(head),
                               found.margin(head)};
  for (size_t m = 0; m < measures.size(); ++m)
    measured.add(grids.measures.at({layer.l, view, static_cast<std::int64_t>(m)}), measures[m]);
}

FloatingState::FloatingState(const LayerAxis& axis, const AnalysisOptions& options)
    : grids(axis),
      sizes(grids.rules.size(), options.bootstrap),
      shares(grids.rules.size(), options.bootstrap),
      measured(grids.measures.size(), options.bootstrap),
      fires(grids.rules.size()),
      undefined(grids.rules.size()),
      step_sizes(grids.steps.size()),
      step_shares(grids.steps.size()),
      head_sizes(grids.heads.size()),
      head_shares(grids.heads.size()),
      head_fires(grids.heads.size()),
      null_sizes(kRuleCount),
      null_shares(kRuleCount),
      null_measures(kMeasureCount),
      depth(kViews * kDepthQuantities, options.bootstrap),
      composition(grids.sets.size(), options.bootstrap),
      tally(kLists * kViews) {}

void FloatingState::add(const ObservedSample& sample, const LayerAxis& axis, const FloatingSample& of) {
  ++samples;
  const std::string& id = sample.id();
  sizes.add(id, of.sizes.means());
  shares.add(id, of.shares.means());
  measured.add(id, of.measured.means());
  fires.add(of.fires.means());
  undefined.add(of.undefined.means());
  step_sizes.add(of.step_sizes);
  step_shares.add(of.kept_step_shares);
  head_sizes.add(of.head_sizes);
  head_shares.add(of.kept_head_shares);
  head_fires.add(of.head_fires);
  std::vector<double> profiles;
  for (std::int64_t v = 0; v < kViews; ++v) {
    for (std::int64_t q = 0; q < kDepthQuantities; ++q) {
      for (std::int64_t l = 0; l < axis.size(); ++l) {
        profiles.push_back(q < kRuleCount ? of.sizes.mean(grids.rules.at({l, v, q}))
                                          : of.measured.mean(grids.measures.at({l, v, q - kRuleCount})));
      }
    }
  }
  depth.add(id, axis, profiles);
  composition.add(id, of.composition);
  tally.add(sample, of.tally);
}

}  // namespace buoy::analysis
