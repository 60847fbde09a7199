#include "buoy/run/attention_features.h"

#include <algorithm>

#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/flow/sample_flow.h"
#include "buoy/analysis/retrieval/retrieval_score.h"

namespace buoy::run {
namespace {

using Features = std::map<std::string, double>;

void add_gold(const analysis::ObservedSample& sample, Features& out) {
  if (sample.gold_regions.empty()) return;
  const auto flow = analysis::flow_of_sample(sample);
  double mass = 0, deep = 0, even = 0;
  const size_t layers = flow.mean.size(), first_deep = layers - std::max<size_t>(layers / 3, 1);
  for (size_t r = 0; r < flow.regions.names.size(); ++r) {
    const auto& gold = sample.gold_regions;
    if (std::find(gold.begin(), gold.end(), flow.regions.names[r]) == gold.end()) continue;
    even += flow.uniform[r];
    for (size_t l = 0; l < layers; ++l) {
      mass += flow.mean[l].all[r] / static_cast<double>(layers);
      if (l >= first_deep) deep += flow.mean[l].all[r] / static_cast<double>(layers - first_deep);
    }
  }
  out["gold_mass"] = mass;
  out["gold_mass_deep"] = deep;
  if (even > 0) out["gold_lift"] = mass / even;
}

void add_retrieval(const analysis::ObservedSample& sample, Features& out) {
  if (sample.evidence.empty()) return;
  const auto test = analysis::make_retrieval_test(sample);
  if (test.tokens.empty() || test.needle.positions.empty()) return;
  double strict = 0, best = 0, mass = 0;
  const auto heads = analysis::score_heads(sample, test);
  for (const auto& head : heads) {
    strict += head.strict_hits() > 0 ? 1 : 0;
    best = std::max(best, static_cast<double>(head.strict_hits()));
    mass = std::max(mass, head.mass);
  }
  out["strict_heads"] = strict / static_cast<double>(heads.size());
  out["best_head"] = best / static_cast<double>(test.tokens.size());
  out["evidence_mass"] = mass;
}

void add_floating(const analysis::ObservedSample& sample, Features& out) {
  analysis::AnchorDetector detector(sample.causal, sample.tokens, {});
  const std::int64_t layers = sample.layer_count(), last = sample.final_index();
  double share = 0, anchors = 0, moves = 0, chances = 0;
  for (std::int64_t l = 0; l < layers; ++l) {
    const auto received = sample.received(last, l);
    detector.look(received.mean);
    share += detector.top_share();
    anchors += detector.anchor_count();
    std::int64_t before = -1;
    for (std::int64_t s = 0; sample.masked_diffusion && s < sample.step_count(); ++s) {
      const auto at_step = sample.received(s, l);
      detector.look(at_step.mean);
      if (before >= 0) {
        chances += 1;
        moves += detector.top() != before ? 1 : 0;
      }
      before = detector.top();
    }
  }
  out["top_share"] = share / static_cast<double>(layers);
  out["anchors"] = anchors / static_cast<double>(layers);
  if (chances > 0) out["top_moves"] = moves / chances;
}

}  // namespace

Features attention_features(const analysis::ObservedSample& sample) {
  Features out;
  add_gold(sample, out);
  add_retrieval(sample, out);
  add_floating(sample, out);
  return out;
}

const std::vector<FeatureName>& feature_names() {
  static const std::vector<FeatureName> names = {
      {"gold_mass", "attention of the answer's queries on gold documents, mean over steps, heads, layers"},
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
