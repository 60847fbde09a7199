#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kStructure{Source::kAnalysis, "structure", "Structure or content", "received",
                                     ", texts of tokens and, for gold, data with passages"};

inline constexpr std::string_view kClassMeaning =
    "class of tokens: a type; structural (special, template, white space, punctuation), content (with "
    "digits), mask or padding (at or behind the end of the answer); gold: in a gold region; evidence: part "
    "of the answer in a gold document";
inline constexpr std::string_view kEvenBaseMeaning =
    "what uniform attention with the same mask gives the class: its share of positions if bidirectional";

struct StructureByLayer : TableSchema {
  constexpr StructureByLayer()
      : TableSchema({kStructure, "structure_by_layer",
                     "Received attention on structure, on content and on the gold span by layer, against its "
                     "base rate (calibrated; the paper has no such estimator)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis queries{
      *this,
      {"queries", "name", "whose attention: of all queries (published), or of the answer's positions"}};
  Axis dimension{*this, {"dimension", "name", "type, kind or gold"}};
  Axis token_class{*this, {"class", "name", kClassMeaning}};
  Interval share{
      *this,
      {"share", "share of 1", "share of attention on the class, of 1, mean over heads, steps and samples"},
      kOverSamples};
  Value base{*this, {"base", "share of 1", kEvenBaseMeaning}};
  NamedInterval lift{
      *this, {"lift", "times even attention", "share / base, ratio of means over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr StructureByLayer structure_by_layer;

struct StructureByHead : TableSchema {
  constexpr StructureByHead()
      : TableSchema({kStructure, "structure_by_head",
                     "Received attention on structure, content and the gold span of every head, all queries "
                     "(calibrated)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", "query head"}};
  Axis token_class{*this, {"class", "name", kClassMeaning}};
  Value share{*this,
              {"share", "share of 1", "share of attention on the class, of 1, mean over steps and samples"}};
  Value deviation{*this, {"deviation", "share of 1", kDeviationMeaning}};
  Value base{*this, {"base", "share of 1", kEvenBaseMeaning}};
  Value lift{*this, {"lift", "times even attention", "share / base"}};
  Value maps{*this, {"maps", "maps", "maps (steps times samples) with a value"}};
};
inline constexpr StructureByHead structure_by_head;

struct StructureFloating : TableSchema {
  constexpr StructureFloating()
      : TableSchema({kStructure, "structure_floating",
                     "Are floating tokens structure or content, by layer? Their share of each kind, and that "
                     "of a random set"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis rule{*this, {"rule", "name", "three_sigma is the published rule"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis token_class{*this,
                   {"class", "name",
                    "structural (special, template, white space, punctuation), content (with digits), mask "
                    "or padding"}};
  Interval share{*this, {"share", "share of 1", kFloatingShareMeaning}, kOverSamples};
  Value base{*this, {"base", "share of 1", kRandomBaseMeaning}};
  Value lift{*this, {"lift", "ratio", "share / base"}};
  Value samples{*this, {"samples", "samples", "samples in which the rule selected anything"}};
};
inline constexpr StructureFloating structure_floating;

struct StructureDepth : TableSchema {
  constexpr StructureDepth()
      : TableSchema({kStructure, "structure_depth",
                     "Shallow structure, deep content (claim C6)? Lift of received attention on a class, and "
                     "the make-up of floating tokens, over depth"}) {}
  Axis quantity{*this,
                {"quantity", "name",
                 "lift: of received attention over its base rate, per sample; floating_share: share of a "
                 "class among floating tokens"}};
  Axis token_class{*this, {"class", "name", kClassMeaning}};
  Axis queries{*this,
               {"queries", "name",
                "whose attention: of all queries (published), or of the answer's positions; empty for "
                "floating_share"}};
  Axis rule{*this, {"rule", "name", "rule of floating_share"}};
  Axis view{*this,
            {"view", "name",
             "head_mean: heads averaged first (published); per_head: each head by itself, then the mean over "
             "heads (calibrated); of floating_share"}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval value{*this, {"value", "as the quantity", "mean over samples"}, kOverSamples};
  Value null{*this,
             {"null", "as the quantity",
              "1 for levels of a lift, 0 for its differences and slopes; nothing for shares"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr StructureDepth structure_depth;

// In the order the analysis makes them.
inline constexpr auto kStructureTables = std::to_array<const TableSchema*>(
    {&structure_by_layer, &structure_by_head, &structure_floating, &structure_depth});

}  // namespace buoy::schema
