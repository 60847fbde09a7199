#include "buoy/analysis/sinks/sample_sinks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "buoy/analysis/core/uniform.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::array kRulliRules = {Rule::kRulliSum, Rule::kRulliPercent};
constexpr std::array kRulliCounts = {kRulliSumCount, kRulliPercentCount};
constexpr std::array kRulliShares = {kRulliSumShare, kRulliPercentShare};

std::vector<std::int64_t> groups_called(const SampleFacts& sample, std::string_view name) {
  std::vector<std::int64_t> groups;
  for (size_t g = 0; g < sample.group_names.size(); ++g) {
    if (sample.group_names[g] == name) groups.push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

double queries_of(const ForwardFacts& forward, const std::vector<std::int64_t>& groups) {
  double queries = 0;
  for (const auto group : groups) queries += forward.group_sizes[static_cast<size_t>(group)];
  return queries;
}

double best_share(std::span<const double> shares) {
  return *std::max_element(shares.begin(), shares.end());
}

// How often both have the same largest key when equal ones are told apart by lot.
double same_best(std::span<const double> a, std::span<const double> b) {
  const double most_a = best_share(a), most_b = best_share(b);
  double of_a = 0, of_b = 0, both = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const bool in_a = a[j] == most_a, in_b = b[j] == most_b;
    of_a += in_a ? 1 : 0;
    of_b += in_b ? 1 : 0;
    both += in_a && in_b ? 1 : 0;
  }
  return both / (of_a * of_b);
}

double indicator(bool value) {
  return value ? 1 : 0;
}

}  // namespace

SampleSinks::SampleSinks(const SampleFacts& sample, double epsilon)
    : means({sample.layer_count(), sample.heads, kSinkQuantities}),
      above(static_cast<size_t>(2 * kEpsilonCount), 0.0F),
      epsilon_(epsilon),
      heads_(sample.heads),
      layers_(sample.layer_count()),
      nulls_(layers_, whole_row(sample.mask, sample.tokens), null_of),
      masked_groups_(groups_called(sample, trace::kMaskedName)),
      revealed_groups_(groups_called(sample, trace::kRevealedName)),
      lives_(static_cast<size_t>(layers_ * heads_)),
      counts_(static_cast<size_t>(layers_ * 2 * kEpsilonCount), 0.0),
      maps_(static_cast<size_t>(layers_), 0.0) {}

SampleSinks::Null SampleSinks::null_of(const Reach& reach) {
  Null out;
  out.even = uniform_received(reach);
  AnchorDetector detector(reach, {});
  detector.look(out.even);
  out.first = out.even.front();
  out.best = detector.top_share();
  for (size_t r = 0; r < kRulliRules.size(); ++r) {
    Anchors anchors;
    detector.find(kRulliRules[r], anchors);
    out.rulli[r] = anchors.positions;
  }
  return out;
}

void SampleSinks::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  take_shares(layer);
  take_rules(layer);
  take_queries(layer);
  if (layer.sample.has(trace::kValueNorm)) take_values(layer);
  if (layer.sample.has(trace::kContribution)) take_contribution(layer);
}

void SampleSinks::take_shares(const LayerView& layer) {
  const Null& null = nulls_.of(layer.l, layer.forward.reach);
  double* counts = counts_.data() + layer.l * 2 * kEpsilonCount;
  maps_[static_cast<size_t>(layer.l)] += static_cast<double>(heads_);
  for (std::int64_t h = 0; h < heads_; ++h) {
    const double first = layer.received().of(h).front(), best = layer.detection().top_share(h);
    means.add_head(layer, h, kSinkFirst, {first, null.first});
    means.add_head(layer, h, kSinkBest, {best, null.best});
    means.add_head(layer, h, kFirstAbove, {indicator(first > epsilon_), indicator(null.first > epsilon_)});
    means.add_head(layer, h, kBestAbove, {indicator(best > epsilon_), indicator(null.best > epsilon_)});
    for (std::int64_t e = 0; e < kEpsilonCount; ++e) {
      counts[e] += indicator(first > kSinkEpsilons[static_cast<size_t>(e)]);
      counts[kEpsilonCount + e] += indicator(best > kSinkEpsilons[static_cast<size_t>(e)]);
    }
  }
}

void SampleSinks::take_rules(const LayerView& layer) {
  const Null& null = nulls_.of(layer.l, layer.forward.reach);
  const std::int64_t keys = layer.forward.reach.end;
  for (std::int64_t h = 0; h < heads_; ++h) {
    for (size_t r = 0; r < kRulliRules.size(); ++r) {
      const Anchors& found = layer.detection().anchors(h, kRulliRules[r]);
      if (!found.defined) continue;
      const auto count = static_cast<double>(found.positions.size()),
                 null_count = static_cast<double>(null.rulli[r].size()), of = static_cast<double>(keys);
      means.add_head(layer, h, kRulliCounts[r], {count, null_count});
      means.add_head(
          layer, h, kRulliShares[r],
          {share_of(found.positions, layer.received().of(h)), share_of(found.positions, null.even)});
      if (kRulliRules[r] != Rule::kRulliSum) continue;
      means.add_head(layer, h, kFiltered, {1 - count / of, 1 - null_count / of});
      lives_[static_cast<size_t>(layer.l * heads_ + h)].add(found.positions, keys);
    }
  }
}

// What masked and revealed slots of the answer look at. Where queries see different keys, even attention of
// just these queries is not known here.
void SampleSinks::take_queries(const LayerView& layer) {
  const bool has_masked = queries_of(layer.forward, masked_groups_) > 0,
             has_revealed = queries_of(layer.forward, revealed_groups_) > 0;
  const Reach& reach = layer.forward.reach;
  const double even =
      reach.keys_of(reach.first) == reach.end ? 1 / static_cast<double>(reach.end) : stats::kNan;
  Received masked, revealed;
  if (has_masked) masked = layer.received(masked_groups_);
  if (has_revealed) revealed = layer.received(revealed_groups_);
  for (std::int64_t h = 0; h < heads_; ++h) {
    if (has_masked) means.add_head(layer, h, kMaskedBest, {best_share(masked.of(h)), even});
    if (has_revealed) means.add_head(layer, h, kRevealedBest, {best_share(revealed.of(h)), even});
    if (has_masked && has_revealed)
      means.add_head(layer, h, kSameBest, {same_best(masked.of(h), revealed.of(h)), even});
  }
}

void SampleSinks::take_values(const LayerView& layer) {
  const auto& sample = layer.sample;
  const auto norms = layer.floats(trace::kValueNorm);  // [kv heads, tokens]
  const std::int64_t keys = layer.forward.reach.end;
  const auto others = static_cast<double>(keys - 1);
  if (others < 1) return;
  for (std::int64_t v = 0; v < sample.kv_heads; ++v) {
    const auto of_head = norms.subspan(static_cast<size_t>(v * sample.tokens), static_cast<size_t>(keys));
    const double total = std::accumulate(of_head.begin(), of_head.end(), 0.0);
    const auto ratio = [&](size_t key) { return of_head[key] / ((total - of_head[key]) / others); };
    double ratios = 0, small = 0;
    for (size_t key = 0; key < of_head.size(); ++key) {
      ratios += ratio(key);
      small += indicator(ratio(key) < kSmallValue);
    }
    const auto all = static_cast<double>(keys);
    const std::int64_t group = heads_ / sample.kv_heads;
    for (std::int64_t h = v * group; h < (v + 1) * group; ++h) {
      const double at_best = ratio(static_cast<size_t>(layer.detection().top(h)));
      if (!std::isfinite(at_best)) continue;
      means.add_head(layer, h, kValueRatio, {at_best, ratios / all});
      means.add_head(layer, h, kValueDrain, {indicator(at_best < kSmallValue), small / all});
    }
  }
}

void SampleSinks::take_contribution(const LayerView& layer) {
  const std::int64_t tokens = layer.sample.tokens;
  const auto lengths = layer.floats(trace::kContribution);  // [heads, tokens]
  for (std::int64_t h = 0; h < heads_; ++h) {
    const auto of_head = lengths.subspan(static_cast<size_t>(h * tokens), static_cast<size_t>(tokens));
    const double total = std::accumulate(of_head.begin(), of_head.end(), 0.0);
    const std::int64_t best = layer.detection().top(h);
    if (total > 0)
      means.add_head(layer, h, kBestContribution,
                     {of_head[static_cast<size_t>(best)] / total, layer.detection().top_share(h)});
  }
}

void SampleSinks::finish_layer(const ObservedSample& /*sample*/, std::int64_t l) {
  for (std::int64_t h = 0; h < heads_; ++h) {
    SinkLife& life = lives_[static_cast<size_t>(l * heads_ + h)];
    means.add_run(l, h, kSinkStays, life.stays());
    means.add_run(l, h, kSinkMoves, life.moves());
    means.add_run(l, h, kSinkDies, life.dies());
    means.add_run(l, h, kSinkLifetime, life.lifetime());
    means.add_run(l, h, kSinkStatic, life.always());
    life = {};
  }
}

void SampleSinks::finish(const ObservedSample& /*sample*/) {
  means.finish();
  const double maps = std::accumulate(maps_.begin(), maps_.end(), 0.0);
  for (std::int64_t cell = 0; cell < 2 * kEpsilonCount; ++cell) {
    double sum = 0;
    for (std::int64_t l = 0; l < layers_; ++l)
      sum += counts_[static_cast<size_t>(l * 2 * kEpsilonCount + cell)];
    above[static_cast<size_t>(cell)] = static_cast<float>(maps > 0 ? sum / maps : stats::kNan);
  }
  lives_ = {};
  counts_ = maps_ = {};
}

void SampleSinks::state(StateArchive& archive) {
  means.state(archive);
  archive.numbers(above);
}

}  // namespace buoy::analysis
