#include <algorithm>
#include <array>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/retrieval/retrieval_summary.h"
#include "buoy/analysis/retrieval/retrieval_sums.h"
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
  Table table{"retrieval_by_head",
              "Retrieval scores of every head with chance levels (calibrated; no formula is published)",
              {{"layer", "layer, from 0"}, {"head", "query head, from 0"}, {"tests", "samples scored"}},
              {}};
  auto& c = table.columns;
  add_interval_columns(c, "strict_set",
                       "A, Wu's text: distinct needle tokens copied / distinct needle tokens");
  add_interval_columns(c, "strict_added", "A, Wu's code: strict hits / needle length, repeats count again");
  add_interval_columns(c, "hit_rate", "B: share of answer tokens whose arg-max lies in the needle");
  add_interval_columns(c, "mass", "C: mean attention of the committing rows on the needle");
  c.insert(c.end(),
           {{"chance_strict_set", "strict_set of an even arg-max"},
            {"chance_strict_added", "strict_added of an even arg-max"},
            {"chance_hit_rate", "hit_rate of an even arg-max; also mass of even attention"},
            {"strict_set_gated", "strict_set over the tests that pass Wu's gate (needle recall > 0.5)"},
            {"strict_added_gated", "strict_added over those"},
            {"activation", "share of tests with at least one strict hit"},
            {"mass_over_max", "mass divided by the largest of all heads"},
            {"chance_over_max", "chance_hit_rate divided by the same"},
            {"strict_hits", "strict hits in all tests"},
            {"p_strict", "chance of so many strict hits if the arg-max were even (Poisson bound)"},
            {"p_hit", "chance of so many arg-maxes in the needle if it were even (Poisson bound)"},
            {"above_chance", "yes: p_strict below 0.05 / heads; in 95% of null models no head says so"},
            {"hit_above_chance", "yes: p_hit below 0.05 / heads"},
            {"to_needle_other", "share of arg-maxes in the needle, on another token than the one written"},
            {"to_first", "share of misses' arg-maxes at position 0, of all answer tokens"},
            {"to_self", "at the row itself"},
            {"to_mask", "at a token still masked"},
            {"to_other", "anywhere else"}});
  const double most = largest_mass();
  const double threshold = kFalseAlarms / static_cast<double>(std::max<std::int64_t>(1, observed_heads()));
  for (std::int64_t head = 0; head < layers_ * heads_; ++head) {
    const std::int64_t extra = head * kExtras;
    if (extras_.count(extra + kActive) == 0) continue;
    std::vector<Cell> row = {head / heads_, head % heads_, extras_.count(extra + kActive)};
    for (int score = 0; score < kScores; ++score)
      add_interval_cells(row, head_scores_.interval(head * kScores + score));
    const double p_strict = poisson_tail(strict_hits_[static_cast<size_t>(head)], strict_expected_);
    const double p_hit = poisson_tail(hits_[static_cast<size_t>(head)], hits_expected_);
    const double mass = head_scores_.interval(head * kScores + kMass).value;
    for (const auto chance : {kSetChance, kAddedChance, kHitChance})
      row.push_back(number_cell(chances_.mean(chance)));
    for (const auto value : {kSetGated, kAddedGated, kActive})
      row.push_back(number_cell(extras_.mean(extra + value)));
    row.push_back(number_cell(mass / most));
    row.push_back(number_cell(chances_.mean(kHitChance) / most));
    row.push_back(strict_hits_[static_cast<size_t>(head)]);
    row.push_back(number_cell(p_strict));
    row.push_back(number_cell(p_hit));
    row.push_back(p_strict < threshold ? "yes" : "no");
    row.push_back(p_hit < threshold ? "yes" : "no");
    for (auto target = static_cast<int>(Target::kNeedle); target < static_cast<int>(Target::kCount); ++target)
      row.push_back(number_cell(extras_.mean(extra + kTargets + target)));
    table.add(std::move(row));
  }
  return table;
}

Table RetrievalSums::by_layer() const {
  Table table{"retrieval_by_layer",
              "Retrieval scores by layer, mean over its heads",
              {{"layer", "layer, from 0"}, {"tests", "samples scored"}},
              {}};
  for (const auto* name : kScoreNames)
    add_interval_columns(table.columns, name, "mean over the heads of the layer; see retrieval_by_head");
  table.columns.push_back({"chance_strict_set", "strict_set of an even arg-max"});
  table.columns.push_back({"chance_hit_rate", "hit_rate of an even arg-max; also mass of even attention"});
  table.columns.push_back({"retrieval_heads", "heads with strict_set >= 0.1"});
  table.columns.push_back({"strong_heads", "heads with strict_set >= 0.5"});
  for (std::int64_t l = 0; l < layers_; ++l) {
    const stats::Estimate first = layer_scores_.interval(l * kScores);
    if (first.samples == 0) continue;
    std::vector<Cell> row = {l, first.samples};
    for (int score = 0; score < kScores; ++score)
      add_interval_cells(row, layer_scores_.interval(l * kScores + score));
    row.push_back(number_cell(chances_.mean(kSetChance)));
    row.push_back(number_cell(chances_.mean(kHitChance)));
    for (const double threshold : {0.1, 0.5}) {
      std::int64_t over = 0;
      for (std::int64_t h = 0; h < heads_; ++h)
        over += head_scores_.mean((l * heads_ + h) * kScores + kSet) >= threshold;
      row.push_back(over);
    }
    table.add(std::move(row));
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
  Table table{
      "retrieval_tests", "What the retrieval scores rest on", {{"what", "what"}, {"value", "how many"}}, {}};
  const auto per_test = [&](double value) { return number_cell(value / static_cast<double>(tests_)); };
  table.add({"tests (samples scored)", tests_});
  table.add({"tests that pass Wu's gate", passed_});
  table.add({"answer tokens scored", tokens_});
  table.add({"needle tokens per test", per_test(static_cast<double>(needle_tokens_))});
  table.add({"expected strict hits of an even arg-max, per head", strict_expected_});
  table.add({"expected arg-maxes in the needle, per head", hits_expected_});
  table.add({"chance of strict_set, tests that pass the gate", number_cell(chances_.mean(kSetChanceGated))});
  table.add(
      {"chance of strict_added, tests that pass the gate", number_cell(chances_.mean(kAddedChanceGated))});
  table.add({"samples left out: nothing flagged as evidence", no_evidence_});
  table.add({"samples left out: no answer token to score", no_tokens_});
  table.add({"tokens left out: at or behind the first special token", left_out_.behind_end});
  table.add({"tokens left out: never revealed", left_out_.not_revealed});
  table.add({"tokens left out: revealed at a step not observed", left_out_.step_unseen});
  table.add({"tokens left out: row not observed", left_out_.row_unseen});
  return table;
}

}  // namespace buoy::analysis
