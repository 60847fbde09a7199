#include "buoy/analysis/floating/floating_state.h"

#include <algorithm>

namespace buoy::analysis {
std::int64_t composition_index(Rule rule) {
  const auto at = std::find(kCompositionRules.begin(), kCompositionRules.end(), rule);
  return at == kCompositionRules.end() ? -1 : at - kCompositionRules.begin();
}

FloatingState::FloatingState(const LayerAxis& axis, const AnalysisOptions& options)
    : rules({axis.size(), kViews, kRuleCount}),
      steps({axis.size(), kStepBins, kViews, kRuleCount}),
      heads({axis.size(), axis.heads(), kRuleCount}),
      sets({axis.size(), kLists, kViews}),
      measures({axis.size(), kViews, kMeasureCount}),
      sample_sizes(rules.size()),
      sample_shares(rules.size()),
      sample_fires(rules.size()),
      sample_undefined(rules.size()),
      sample_measures(measures.size()),
      sizes(rules.size(), options.bootstrap),
      shares(rules.size(), options.bootstrap),
      measured(measures.size(), options.bootstrap),
      fires(rules.size()),
      undefined(rules.size()),
      step_sizes(steps.size()),
      step_shares(steps.size()),
      head_sizes(heads.size()),
      head_shares(heads.size()),
      head_fires(heads.size()),
      null_sizes(kRuleCount),
      null_shares(kRuleCount),
      null_measures(kMeasureCount),
      depth(kViews * kDepthQuantities, options.bootstrap),
      composition(sets.size(), options.bootstrap),
      tally(kLists * kViews) {}

void FloatingState::add_sample(std::string_view id, const LayerAxis& axis) {
  ++samples;
  sizes.add(id, sample_sizes.means());
  shares.add(id, sample_shares.means());
  measured.add(id, sample_measures.means());
  fires.add(sample_fires.means());
  undefined.add(sample_undefined.means());
  std::vector<double> profiles;
  for (std::int64_t v = 0; v < kViews; ++v) {
    for (std::int64_t q = 0; q < kDepthQuantities; ++q) {
      for (std::int64_t l = 0; l < axis.size(); ++l) {
        profiles.push_back(q < kRuleCount ? sample_sizes.mean(rules.at({l, v, q}))
                                          : sample_measures.mean(measures.at({l, v, q - kRuleCount})));
      }
    }
  }
  depth.add(id, axis, profiles);
  composition.end_sample(id);
  for (auto* moments : {&sample_sizes, &sample_shares, &sample_fires, &sample_undefined, &sample_measures})
    moments->reset();
}

}  // namespace buoy::analysis
