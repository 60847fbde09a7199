#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kRetrieval{Source::kAnalysis, "retrieval", "Retrieval heads", "top,row-mass",
                                     " and data with passages"};

inline constexpr std::string_view kChanceHitRateMeaning =
    "hit_rate of an even arg-max; also mass of even attention";

struct RetrievalByHead : TableSchema {
  constexpr RetrievalByHead()
      : TableSchema(
            {kRetrieval, "retrieval_by_head",
             "Retrieval scores of every head with chance levels (calibrated; no formula is published)"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis head{*this, {"head", "head", "query head, from 0"}};
  Value tests{*this, {"tests", "samples", "samples scored"}};
  NamedInterval strict_set{
      *this,
      {"strict_set", "share of 1", "A, Wu's text: distinct needle tokens copied / distinct needle tokens"},
      kEndsOverSamples};
  NamedInterval strict_added{
      *this,
      {"strict_added", "share of 1", "A, Wu's code: strict hits / needle length, repeats count again"},
      kEndsOverSamples};
  NamedInterval hit_rate{
      *this,
      {"hit_rate", "share of 1", "B: share of answer tokens whose arg-max lies in the needle"},
      kEndsOverSamples};
  NamedInterval mass{*this,
                     {"mass", "share of 1", "C: mean attention of the committing rows on the needle"},
                     kEndsOverSamples};
  Value chance_strict_set{*this, {"chance_strict_set", "share of 1", "strict_set of an even arg-max"}};
  Value chance_strict_added{*this, {"chance_strict_added", "share of 1", "strict_added of an even arg-max"}};
  Value chance_hit_rate{*this, {"chance_hit_rate", "share of 1", kChanceHitRateMeaning}};
  Value strict_set_gated{*this,
                         {"strict_set_gated", "share of 1",
                          "strict_set over the tests that pass Wu's gate (needle recall > 0.5)"}};
  Value strict_added_gated{*this, {"strict_added_gated", "share of 1", "strict_added over those"}};
  Value activation{*this, {"activation", "share of 1", "share of tests with at least one strict hit"}};
  Value mass_over_max{*this, {"mass_over_max", "share of 1", "mass divided by the largest of all heads"}};
  Value chance_over_max{*this, {"chance_over_max", "share of 1", "chance_hit_rate divided by the same"}};
  Value strict_hits{*this, {"strict_hits", "hits", "strict hits in all tests"}};
  Value p_strict{
      *this,
      {"p_strict", "chance", "chance of so many strict hits if the arg-max were even (Poisson bound)"}};
  Value p_hit{
      *this,
      {"p_hit", "chance", "chance of so many arg-maxes in the needle if it were even (Poisson bound)"}};
  Value above_chance{
      *this,
      {"above_chance", "name", "yes: p_strict below 0.05 / heads; in 95% of null models no head says so"}};
  Value hit_above_chance{*this, {"hit_above_chance", "name", "yes: p_hit below 0.05 / heads"}};
  Value to_needle_other{*this,
                        {"to_needle_other", "share of 1",
                         "share of arg-maxes in the needle, on another token than the one written"}};
  Value to_first{
      *this, {"to_first", "share of 1", "share of misses' arg-maxes at position 0, of all answer tokens"}};
  Value to_self{*this, {"to_self", "share of 1", "at the row itself"}};
  Value to_mask{*this, {"to_mask", "share of 1", "at a token still masked"}};
  Value to_other{*this, {"to_other", "share of 1", "anywhere else"}};
};
inline constexpr RetrievalByHead retrieval_by_head;

struct RetrievalByLayer : TableSchema {
  constexpr RetrievalByLayer()
      : TableSchema({kRetrieval, "retrieval_by_layer", "Retrieval scores by layer, mean over its heads"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Value tests{*this, {"tests", "samples", "samples scored"}};
  NamedInterval strict_set{
      *this,
      {"strict_set", "share of 1", "mean over the heads of the layer; see retrieval_by_head"},
      kEndsOverSamples};
  NamedInterval strict_added{
      *this,
      {"strict_added", "share of 1", "mean over the heads of the layer; see retrieval_by_head"},
      kEndsOverSamples};
  NamedInterval hit_rate{
      *this,
      {"hit_rate", "share of 1", "mean over the heads of the layer; see retrieval_by_head"},
      kEndsOverSamples};
  NamedInterval mass{*this,
                     {"mass", "share of 1", "mean over the heads of the layer; see retrieval_by_head"},
                     kEndsOverSamples};
  Value chance_strict_set{*this, {"chance_strict_set", "share of 1", "strict_set of an even arg-max"}};
  Value chance_hit_rate{*this, {"chance_hit_rate", "share of 1", kChanceHitRateMeaning}};
  Value retrieval_heads{*this, {"retrieval_heads", "heads", "heads with strict_set >= 0.1"}};
  Value strong_heads{*this, {"strong_heads", "heads", "heads with strict_set >= 0.5"}};
};
inline constexpr RetrievalByLayer retrieval_by_layer;

struct RetrievalSummary : TableSchema {
  constexpr RetrievalSummary()
      : TableSchema(
            {kRetrieval, "retrieval_summary",
             "Retrieval scores in the statistics of the published heatmaps, one block per way to score"}) {}
  Axis variant{*this, {"variant", "name", "strict_set, strict_added (Wu), hit_rate, mass, mass_over_max"}};
  Axis statistic{*this, {"statistic", "name", "what is computed from the scores of all heads"}};
  NamedInterval value{*this, {"value", "as the statistic", "of this trace"}, kEndsOverSamples};
  Value chance{*this, {"chance", "as the statistic", "what even attention would give"}};
  Value paper_llada{*this,
                    {"paper_llada", "as the statistic",
                     "published heatmap of LLaDA, read off (its way to score is not known)"}};
  Value paper_dream{*this, {"paper_dream", "as the statistic", "published heatmap of Dream, likewise"}};
};
inline constexpr RetrievalSummary retrieval_summary;

struct RetrievalTests : TableSchema {
  constexpr RetrievalTests()
      : TableSchema({kRetrieval, "retrieval_tests", "What the retrieval scores rest on"}) {}
  Axis what{*this, {"what", "name", "what"}};
  Value value{*this, {"value", "number", "how many"}};
};
inline constexpr RetrievalTests retrieval_tests;

struct RetrievalAgreement : TableSchema {
  constexpr RetrievalAgreement()
      : TableSchema(
            {kRetrieval, "retrieval_agreement",
             "Do two models have the same retrieval heads? Pairs of traces with equal layers and heads"}) {}
  Axis score{*this, {"score", "name", "which score"}};
  Axis first{*this, {"first", "text", "one trace"}};
  Axis second{*this, {"second", "text", "the other"}};
  Value heads{*this, {"heads", "heads", "heads compared; 0: the models' layers or heads differ"}};
  Value pearson{*this,
                {"pearson", "correlation",
                 "correlation of the scores over heads (Wu: above 0.8 in a family, below 0.1 across)"}};
  Value spearman{*this, {"spearman", "correlation", "rank correlation over heads"}};
  Value top_heads{*this, {"top_heads", "heads", "heads that count as the top"}};
  Value top_shared{
      *this, {"top_shared", "share of 1", "share of the top heads of the first that are top in the second"}};
  Value top_chance{*this, {"top_chance", "share of 1", "the same for unrelated models"}};
};
inline constexpr RetrievalAgreement retrieval_agreement;

// In the order the analysis makes them.
inline constexpr auto kRetrievalTables = std::to_array<const TableSchema*>(
    {&retrieval_by_head, &retrieval_by_layer, &retrieval_summary, &retrieval_tests, &retrieval_agreement});

}  // namespace buoy::schema
