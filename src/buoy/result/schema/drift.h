#pragma once

#include "buoy/result/schema/blocks.h"
#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kDrift{Source::kAnalysis, "drift", "Temporal drift", "received", ""};

inline constexpr std::string_view kPositionsMeaning =
    "all positions, or only those already unmasked at the step";
inline constexpr std::string_view kSetRuleMeaning =
    "of the set: three_sigma is the published rule; empty for the path of the largest";
inline constexpr std::string_view kScalarMeaning =
    "jaccard: of the sets of consecutive steps, pairs with both empty left out; skipped_pairs: share of "
    "those; persistence: longest run of one position in the set over the number of steps; set_size; moves, "
    "mean_distance, total_distance: of the largest position; static: 1 when it never moves; spearman_step: "
    "of its position with the step; spearman_frontier, spearman_committed: with the number of leading "
    "unmasked slots and the mean position revealed; spearman_step_given_...: with the step, that held fixed "
    "(undefined when unmasking is strictly left to right)";
inline constexpr std::string_view kNullMeaning =
    "what nothing but chance gives: jaccard of random sets of the same sizes, 0 for correlations";
inline constexpr std::string_view kHeadMeaning =
    "mean: heads averaged (published), or the number of the head";

struct DriftByLayer : TableSchema {
  constexpr DriftByLayer()
      : TableSchema(
            {kDrift, "drift_by_layer",
             "Temporal drift by layer: scalars per sample (calibrated; the paper has a picture only)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis positions{*this, {"positions", "name", kPositionsMeaning}};
  Axis rule{*this, {"rule", "name", kSetRuleMeaning}};
  Axis scalar{*this, {"scalar", "name", kScalarMeaning}};
  Interval value{*this,
                 {"value", "as the scalar", "mean over samples (and heads) in which it is defined"},
                 kOverSamples};
  Value null{*this, {"null", "as the scalar", kNullMeaning}};
  Value deviation{*this, {"deviation", "as the scalar", "population standard deviation over samples"}};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr DriftByLayer drift_by_layer;

struct DriftSummary : TableSchema {
  constexpr DriftSummary()
      : TableSchema({kDrift, "drift_summary",
                     "Temporal drift over depth (claim C1: spearman_step above 0, and above 0 with the "
                     "frontier held fixed)"}) {}
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis positions{*this, {"positions", "name", kPositionsMeaning}};
  Axis rule{*this, {"rule", "name", kSetRuleMeaning}};
  Axis scalar{*this, {"scalar", "name", kScalarMeaning}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval value{
      *this, {"value", "as the scalar", "mean over samples of the mean over layers"}, kOverSamples};
  Value null{*this, {"null", "as the scalar", kNullMeaning}};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr DriftSummary drift_summary;

struct DriftByHead : TableSchema {
  constexpr DriftByHead()
      : TableSchema({kDrift, "drift_by_head", "Temporal drift of every head, all positions (calibrated)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", "query head"}};
  Axis rule{*this, {"rule", "name", kSetRuleMeaning}};
  Axis scalar{*this, {"scalar", "name", kScalarMeaning}};
  Value value{*this, {"value", "as the scalar", "mean over samples in which it is defined"}};
  Value deviation{*this, {"deviation", "as the scalar", "population standard deviation over samples"}};
  Value null{*this, {"null", "as the scalar", kNullMeaning}};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr DriftByHead drift_by_head;

struct DriftOrder : TableSchema {
  constexpr DriftOrder()
      : TableSchema({kDrift, "drift_order",
                     "The order of unmasking: tells left-to-right and random-order controls from the model's "
                     "own order"}) {}
  Axis scalar{*this,
              {"scalar", "name",
               "reveal_order: Spearman of position and step over generated tokens; 1 left to right, about 0 "
               "in random order"}};
  Interval value{*this, {"value", "as the scalar", "mean over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr DriftOrder drift_order;

// Cells of one layer of `drift_map`; a longer sample has every n-th step in it, up to the last.
inline constexpr std::int64_t kMostMapCells = 131'072;

struct DriftMap : TableSchema {
  constexpr DriftMap()
      : TableSchema({kDrift, "drift_map",
                     "Received attention by step and position of one sample, floating cells marked "
                     "(three_sigma, published)"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", kHeadMeaning}};
  Axis step{*this,
            {"step", "step",
             "denoising step; every n-th up to the last where a layer would have more than 131,072 cells"}};
  Axis position{*this, {"position", "position", "position in the row"}};
  Value received{*this, {"received", "share of 1", "share of received attention, of 1"}};
  Value floating{
      *this, {"floating", "flag", "1: selected by three_sigma, published; nothing: rows too short for it"}};
  Value masked{*this, {"masked", "flag", "1: still masked when this step's forward ran"}};
  Value token{*this, {"token", "text", "text of the token in the final row; empty when the trace has none"}};
};
inline constexpr DriftMap drift_map;

struct DriftPath : TableSchema {
  constexpr DriftPath()
      : TableSchema({kDrift, "drift_path",
                     "The position of the largest received attention at every step of one sample, beside the "
                     "unmasking frontier"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", kHeadMeaning}};
  Axis step{*this, {"step", "step", "denoising step"}};
  Value position{*this, {"position", "position", "the largest, the first of equal ones"}};
  Value received{*this, {"received", "share of 1", "its share of received attention, of 1"}};
  Value margin{*this, {"margin", "share of 1", "over the second largest"}};
  Value masked{*this, {"masked", "flag", "1: the position was still masked"}};
  Value frontier{*this, {"frontier", "slots", "leading generated slots already unmasked"}};
  Value committed{*this, {"committed", "position", "mean position of the tokens revealed by this step"}};
  Value token{*this, {"token", "text", "text of the token in the final row"}};
};
inline constexpr DriftPath drift_path;

struct DriftTracks : TableSchema {
  constexpr DriftTracks()
      : TableSchema(
            {kDrift, "drift_tracks",
             "Tracks of the anchors of one sample (three_sigma, published): born when a position enters the "
             "set, moved when one leaves as another enters (nearest first), dead when it leaves"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", kHeadMeaning}};
  Axis track{*this, {"track", "number", "number of the track within the layer, by birth"}};
  Value birth{*this, {"birth", "step", "first step in the set"}};
  Value death{*this, {"death", "step", "last step in the set"}};
  Value from{*this, {"from", "position", "position at birth"}};
  Value to{*this, {"to", "position", "position at death"}};
  Value moves{*this, {"moves", "positions", "changes of position"}};
  Value distance{*this, {"distance", "positions", "positions moved in total"}};
  Value path{*this, {"path", "text", "position:first step-last step, for every stay"}};
  Value token{*this, {"token", "text", "text of the token at death in the final row"}};
};
inline constexpr DriftTracks drift_tracks;

struct DriftBlocks : TableSchema {
  constexpr DriftBlocks()
      : TableSchema(
            {kDrift, "drift_blocks",
             "Blocks of the sample that is drawn, of a model that decodes blocks; no others have rows"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis block{*this, {"block", "number", "number of the block, from 0"}};
  Value begin{*this, {"begin", "position", "its first position"}};
  Value end{*this, {"end", "position", "the one behind its last"}};
  Value first_step{*this, {"first_step", "step", "first observed step that denoises it"}};
  Value steps{*this, {"steps", "steps", "observed steps that denoise it"}};
};
inline constexpr DriftBlocks drift_blocks;

struct DriftByBlockLength : TableSchema {
  constexpr DriftByBlockLength()
      : TableSchema(
            {kDrift, "drift_by_block_length",
             "Temporal drift against the block length, of models that decode blocks: heads averaged, all "
             "positions, all layers; no others have rows"}) {}
  Axis block_length{*this, {"block_length", "positions", kBlockLengthMeaning}};
  Axis rule{*this, {"rule", "name", kSetRuleMeaning}};
  Axis scalar{*this, {"scalar", "name", kScalarMeaning}};
  Interval value{
      *this, {"value", "as the scalar", "mean over samples of the mean over layers"}, kOverSamples};
  Value null{*this, {"null", "as the scalar", kNullMeaning}};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr DriftByBlockLength drift_by_block_length;

// In the order the analysis makes them.
inline constexpr auto kDriftTables = std::to_array<const TableSchema*>(
    {&drift_by_layer, &drift_summary, &drift_by_head, &drift_order, &drift_map, &drift_path, &drift_tracks,
     &drift_blocks, &drift_by_block_length});

}  // namespace buoy::schema
