#include "buoy/run/attention_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/analysis/sample/replay.h"
#include "buoy/base/error.h"

namespace buoy::run {
namespace {

using Features = std::map<std::string, double>;

void add_gold(const analysis::ObservedSample& sample, const analysis::SampleFlow& flow, Features& out) {
  double mass = 0, deep = 0, even = 0;
  const size_t layers = flow.mean.size(), first_deep = layers - std::max<size_t>(layers / 3, 1);
  for (size_t r = 0; r < flow.regions.names.size(); ++r) {
    const auto& gold = sample.gold_regions;
    if (std::find(gold.begin(), gold.end(), flow.regions.names[r]) == gold.end()) continue;
    even += flow.even.all[r];
    for (size_t l = 0; l < layers; ++l) {
      mass += flow.mean[l].all[r] / static_cast<double>(layers);
      if (l >= first_deep) deep += flow.mean[l].all[r] / static_cast<double>(layers - first_deep);
    }
  }
  if (std::isnan(mass)) return;  // an answer without words
  out["gold_mass"] = mass;
  out["gold_mass_deep"] = deep;
  if (even > 0) out["gold_lift"] = mass / even;
}

void add_retrieval(const analysis::ObservedSample& sample, const analysis::RetrievalRows& rows,
                   Features& out) {
  const auto test = analysis::make_retrieval_test(sample);
  if (test.tokens.empty() || test.needle.positions.empty()) return;
  double strict = 0, best = 0, mass = 0;
  const auto heads = analysis::score_heads(sample, test, rows);
  for (const auto& head : heads) {
    strict += head.strict_hits() > 0 ? 1 : 0;
    best = std::max(best, static_cast<double>(head.strict_hits()));
    mass = std::max(mass, head.mass);
  }
  out["strict_heads"] = strict / static_cast<double>(heads.size());
  out["best_head"] = best / static_cast<double>(test.tokens.size());
  out["evidence_mass"] = mass;
}

}  // namespace

AttentionFeatures::AttentionFeatures(const analysis::SampleFacts& sample) : layers_(sample.layers.size()) {
  if (!sample.gold_regions.empty()) flow_.emplace(sample);
  if (!sample.evidence.empty()) rows_.emplace(sample);
}

void AttentionFeatures::take(const analysis::LayerView& layer) {
  if (!layer.forward.shown()) return;
  if (flow_) flow_->take(layer);
  if (rows_) rows_->take(layer);
  Layer& of = layers_[static_cast<size_t>(layer.l)];
  auto& found = layer.detection();
  if (layer.forward.is_final(layer.sample)) {
    of.top_share = found.top_share(-1);
    of.anchor_count = found.anchor_count(-1);
  }
  if (!layer.sample.masked_diffusion || !layer.forward.is_step) return;
  if (of.top >= 0) {
    ++of.chances;
    of.moves += found.top(-1) != of.top ? 1 : 0;
  }
  of.top = found.top(-1);
}

Features AttentionFeatures::features(const analysis::ObservedSample& sample) const {
  Features out;
  if (flow_) add_gold(sample, flow_->flow(sample), out);
  if (rows_) add_retrieval(sample, *rows_, out);
  double share = 0, anchors = 0, moves = 0, chances = 0;
  for (const auto& layer : layers_) {
    share += layer.top_share;
    anchors += layer.anchor_count;
    moves += static_cast<double>(layer.moves);
    chances += static_cast<double>(layer.chances);
  }
  const auto layers = static_cast<double>(layers_.size());
  out["top_share"] = share / layers;
  out["anchors"] = anchors / layers;
  if (chances > 0) out["top_moves"] = moves / chances;
  return out;
}

Features attention_features(const analysis::StoredSource& source) {
  AttentionFeatures features(source.sample());
  ThreadPool alone(1);
  analysis::replay(source, analysis::RuleOptions{}, alone,
                   {[&](const analysis::LayerView& layer) { features.take(layer); }, nullptr});
  return features.features(source.sample());
}

void require_features(const std::string& observe) {
  if (observe.empty() || observe == kFeatureObservables) return;
  throw_usage_error({"`observe`",
                     fmt::format("features, which is {} (more is kept by a trace of the same questions)",
                                 kFeatureObservables),
                     observe});
}

const std::vector<FeatureName>& feature_names() {
  static const std::vector<FeatureName> names = {
      {"gold_mass",
       "attention of the rows that write the answer on gold documents, mean over steps, heads, layers"},
      {"gold_mass_deep", "the same in the deepest third of the layers"},
      {"gold_lift", "gold_mass over what even attention would give"},
      {"strict_heads",
       "share of heads that once looked most at the very token being written, in the evidence"},
      {"best_head", "such looks of the best head, per token of the answer"},
      {"evidence_mass", "attention on the evidence by the head that gives it most"},
      {"top_share", "attention received by the strongest column, last forward, mean over layers"},
      {"anchors", "effective number of columns that receive attention, likewise"},
      {"top_moves", "masked diffusion: share of steps at which a layer's strongest column changes"}};
  return names;
}

}  // namespace buoy::run
