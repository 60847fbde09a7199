#include <algorithm>
#include <array>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/retrieval/retrieval_summary.h"
#include "buoy/analysis/retrieval/retrieval_sums.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr double kFalseAlarms = 0.05;  // of all heads together, if none retrieves
constexpr std::array kScoreNames = {"strict_set", "strict_added", "hit_rate", "mass"};

}  // namespace

std::int64_t RetrievalSums::observed_heads() const {
  std::int64_t count = 0;
  for (std::int64_t head = 0; head < layers_ * heads_; ++head)
    count += extras_.count(head * kExtras + kActive) > 0;
  return count;
}

double RetrievalSums::largest_mass() const {
  double most = 0;
  for (std::int64_t head = 0; head < layers_ * heads_; ++head) {
    const double mass = head_scores_.mean(head * kScores + kMass);
    if (mass > most) most = mass;
  }
  return most > 0 ? most : stats::kNan;
}

Table RetrievalSums::by_head() const {
  const auto& t = schema::retrieval_by_head;
  Table table(t);
  const double most = largest_mass();
  const double threshold = kFalseAlarms / static_cast<double>(std::max<std::int64_t>(1, observed_heads()));
  for (std::int64_t head = 0; head < layers_ * heads_; ++head) {
    const std::int64_t extra = head * kExtras;
    if (extras_.count(extra + kActive) == 0) continue;
    const auto score = [&](int which) {
      return interval_cells(head_scores_.interval(head * kScores + which));
    };
    const auto mean = [&](std::int64_t which) { return number_cell(extras_.mean(extra + which)); };
    const auto to = [&](Target target) { return mean(kTargets + static_cast<int>(target)); };
    const double p_strict = poisson_tail(strict_hits_[static_cast<size_t>(head)], strict_expected_);
    const double p_hit = poisson_tail(hits_[static_cast<size_t>(head)], hits_expected_);
    const double mass = head_scores_.interval(head * kScores + kMass).value;
    table.add({{t.layer, head / heads_},
               {t.head, head % heads_},
               {t.tests, extras_.count(extra + kActive)},
               {t.strict_set, score(kSet)},
               {t.strict_added, score(kAdded)},
               {t.hit_rate, score(kHit)},
               {t.mass, score(kMass)},
               {t.chance_strict_set, number_cell(chances_.mean(kSetChance))},
               {t.chance_strict_added, number_cell(chances_.mean(kAddedChance))},
               {t.chance_hit_rate, number_cell(chances_.mean(kHitChance))},
               {t.strict_set_gated, mean(kSetGated)},
               {t.strict_added_gated, mean(kAddedGated)},
               {t.activation, mean(kActive)},
               {t.mass_over_max, number_cell(mass / most)},
               {t.chance_over_max, number_cell(chances_.mean(kHitChance) / most)},
               {t.strict_hits, strict_hits_[static_cast<size_t>(head)]},
               {t.p_strict, number_cell(p_strict)},
               {t.p_hit, number_cell(p_hit)},
               {t.above_chance, p_strict < threshold ? "yes" : "no"},
               {t.hit_above_chance, p_hit < threshold ? "yes" : "no"},
               {t.to_needle_other, to(Target::kNeedle)},
               {t.to_first, to(Target::kFirst)},
               {t.to_self, to(Target::kSelf)},
               {t.to_mask, to(Target::kMask)},
               {t.to_other, to(Target::kOther)}});
  }
  return table;
}

Table RetrievalSums::by_layer() const {
  const auto& t = schema::retrieval_by_layer;
  Table table(t);
  for (std::int64_t l = 0; l < layers_; ++l) {
    const stats::Estimate first = layer_scores_.interval(l * kScores);
    if (first.samples == 0) continue;
    const auto score = [&](int which) { return interval_cells(layer_scores_.interval(l * kScores + which)); };
    const auto heads_over = [&](double threshold) {
      std::int64_t over = 0;
      for (std::int64_t h = 0; h < heads_; ++h)
        over += head_scores_.mean((l * heads_ + h) * kScores + kSet) >= threshold;
      return over;
    };
    table.add({{t.layer, l},
               {t.tests, first.samples},
               {t.strict_set, score(kSet)},
               {t.strict_added, score(kAdded)},
               {t.hit_rate, score(kHit)},
               {t.mass, score(kMass)},
               {t.chance_strict_set, number_cell(chances_.mean(kSetChance))},
               {t.chance_hit_rate, number_cell(chances_.mean(kHitChance))},
               {t.retrieval_heads, heads_over(0.1)},
               {t.strong_heads, heads_over(0.5)}});
  }
  return table;
}

Table RetrievalSums::summary() const {
  std::vector<ScoreVariant> variants;
  const std::array chance = {kSetChance, kAddedChance, kHitChance, kHitChance};
  for (int score = 0; score < kScores; ++score) {
    ScoreVariant variant{kScoreNames[static_cast<size_t>(score)], {}, {}, {}, 0, tests_};
    variant.chance = chances_.mean(chance[static_cast<size_t>(score)]);
    for (std::int64_t head = 0; head < layers_ * heads_; ++head)
      variant.heads.push_back(head_scores_.mean(head * kScores + score));
    for (std::int64_t l = 0; l < layers_; ++l) {
      variant.layers.push_back(layer_scores_.mean(l * kScores + score));
      variant.replicates.push_back(layer_scores_.replicates(l * kScores + score));
    }
    variants.push_back(std::move(variant));
  }
  ScoreVariant relative = variants[kMass];
  relative.name = "mass_over_max";
  const double most = largest_mass();
  relative.chance /= most;
  for (double& value : relative.heads) value /= most;
  for (double& value : relative.layers) value /= most;
  for (auto& layer : relative.replicates) {
    for (double& value : layer) value /= most;
  }
  variants.push_back(std::move(relative));
  return summarise_scores(variants, layer_scores_);
}

Table RetrievalSums::counts() const {
  const auto& t = schema::retrieval_tests;
  Table table(t);
  const auto per_test = [&](double value) { return number_cell(value / static_cast<double>(tests_)); };
  table.add({{t.what, "tests (samples scored)"}, {t.value, tests_}});
  table.add({{t.what, "tests that pass Wu's gate"}, {t.value, passed_}});
  table.add({{t.what, "answer tokens scored"}, {t.value, tokens_}});
  table.add({{t.what, "needle tokens per test"}, {t.value, per_test(static_cast<double>(needle_tokens_))}});
  table.add({{t.what, "expected strict hits of an even arg-max, per head"}, {t.value, strict_expected_}});
  table.add({{t.what, "expected arg-maxes in the needle, per head"}, {t.value, hits_expected_}});
  table.add({{t.what, "chance of strict_set, tests that pass the gate"},
             {t.value, number_cell(chances_.mean(kSetChanceGated))}});
  table.add({{t.what, "chance of strict_added, tests that pass the gate"},
             {t.value, number_cell(chances_.mean(kAddedChanceGated))}});
  table.add({{t.what, "samples left out: nothing flagged as evidence"}, {t.value, no_evidence_}});
  table.add({{t.what, "samples left out: no answer token to score"}, {t.value, no_tokens_}});
  table.add(
      {{t.what, "tokens left out: at or behind the first special token"}, {t.value, left_out_.behind_end}});
  table.add({{t.what, "tokens left out: never revealed"}, {t.value, left_out_.not_revealed}});
  table.add({{t.what, "tokens left out: revealed at a step not observed"}, {t.value, left_out_.step_unseen}});
  table.add({{t.what, "tokens left out: row not observed"}, {t.value, left_out_.row_unseen}});
  return table;
}

}  // namespace buoy::analysis
