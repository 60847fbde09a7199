#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kEvaluation{Source::kEvaluation, "evaluation", "Questions and answers", "", ""};

struct EvalScores : TableSchema {
  constexpr EvalScores()
      : TableSchema({kEvaluation, "eval_scores", "Scores of every model, data set and condition"}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Value axis{*this, {"axis", "text", "what a sweep varies; empty outside of one"}};
  Value value{*this, {"value", "text", "value of the axis"}};
  Value items{*this, {"items", "items", "answered items"}};
  Value failed{*this, {"failed", "items", "items without an answer, see eval_failures"}};
  Axis metric{*this, {"metric", "name", "exact_match, substring, substring_words, f1, words"}};
  Interval mean{*this, {"mean", "as the metric", "mean over the items"}, kWilson};
};
inline constexpr EvalScores eval_scores;

struct EvalAverages : TableSchema {
  constexpr EvalAverages()
      : TableSchema({kEvaluation,
                     "eval_averages",
                     "Averages over data sets",
                     {.question = "buoy eval with several `data`"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis metric{*this,
              {"metric", "name",
               "cells: the paper's Avg., the plain mean of substring and F1 of every set; otherwise the mean "
               "over all items"}};
  Value sets{*this, {"sets", "sets", "data sets"}};
  Interval mean{*this,
                {"mean", "as the metric", "the average"},
                {"lower end of its interval, items resampled within each set", "upper end"}};
};
inline constexpr EvalAverages eval_averages;

struct EvalGains : TableSchema {
  constexpr EvalGains()
      : TableSchema({kEvaluation,
                     "eval_gains",
                     "What passages add to closed book, item by item",
                     {.question = "buoy eval with `closed_book` and `passages`"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis set{*this, {"set", "text", "data set; all: the items of all sets together"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis metric{*this, {"metric", "name", "see eval_scores"}};
  Value items{*this, {"items", "items", "answered under both conditions"}};
  Value with{*this, {"with", "as the metric", "mean with passages"}};
  Value without{*this, {"without", "as the metric", "mean in closed book"}};
  Interval gain{*this, {"gain", "as the metric", "mean difference"}, kNewcombe};
};
inline constexpr EvalGains eval_gains;

struct EvalGainRatio : TableSchema {
  constexpr EvalGainRatio()
      : TableSchema({kEvaluation,
                     "eval_gain_ratio",
                     "Gain of masked-diffusion models over gain of autoregressive ones",
                     {.question = "buoy eval with `closed_book` and `passages`, models of both kinds"}}) {}
  Axis set{*this, {"set", "text", "data set; all: the items of all sets together"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis metric{*this, {"metric", "name", "see eval_scores"}};
  Value items{*this, {"items", "items", "answered by all models under both conditions"}};
  Interval diffusion_gain{*this,
                          {"diffusion_gain", "as the metric", "mean gain of the masked-diffusion models"},
                          {"lower end of its interval", "upper end", "diffusion"}};
  Interval autoregressive_gain{
      *this,
      {"autoregressive_gain", "as the metric", "mean gain of the autoregressive models"},
      {"lower end of its interval", "upper end", "autoregressive"}};
  Interval ratio{*this,
                 {"ratio", "ratio", "the one over the other; empty where the divisor's interval holds zero"},
                 kItsInterval};
  Value room{
      *this,
      {"room", "as the metric",
       "the most that the masked-diffusion models could gain: 1 minus their mean in closed book, on the "
       "same items; empty for metrics without a largest value"}};
};
inline constexpr EvalGainRatio eval_gain_ratio;

struct EvalDifferences : TableSchema {
  constexpr EvalDifferences()
      : TableSchema({kEvaluation,
                     "eval_differences",
                     "Model against model on the same items",
                     {.question = "buoy eval with several `model`"}}) {}
  Axis a{*this, {"a", "text", "one model"}};
  Axis b{*this, {"b", "text", "the other"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how both were asked"}};
  Axis metric{*this, {"metric", "name", "see eval_scores"}};
  Value items{*this, {"items", "items", "answered by both"}};
  Interval difference{*this, {"difference", "as the metric", "mean of a minus b"}, kNewcombe};
};
inline constexpr EvalDifferences eval_differences;

struct EvalEffects : TableSchema {
  constexpr EvalEffects()
      : TableSchema({kEvaluation,
                     "eval_effects",
                     "Every value of a sweep against its first, on the same items",
                     {.question = "buoy eval with a `sweep`"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis axis{*this, {"axis", "text", "what the sweep varies"}};
  Axis value{*this, {"value", "text", "value of the axis"}};
  Value first{*this, {"first", "text", "value it is held against"}};
  Axis metric{*this, {"metric", "name", "see eval_scores"}};
  Value items{*this, {"items", "items", "answered under both"}};
  Interval difference{
      *this, {"difference", "as the metric", "mean of this value minus the first"}, kNewcombe};
};
inline constexpr EvalEffects eval_effects;

struct EvalMiddle : TableSchema {
  constexpr EvalMiddle()
      : TableSchema({kEvaluation,
                     "eval_middle",
                     "Lost in the middle: exact match by the place of the gold passage, item by item",
                     {.question = "buoy eval with `sweep` gold-position=1-10 (or 1-20)"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis set{*this, {"set", "text", "data set"}};
  Value positions{*this, {"positions", "places", "places of the sweep, one condition each"}};
  Value items{*this, {"items", "items", "answered at all places"}};
  Value ends{*this, {"ends", "share of 1", "exact match with the gold passage first or last"}};
  Value middle{*this, {"middle", "share of 1", "with it in the middle third"}};
  Interval drop{*this, {"drop", "share of 1", "ends minus middle"}, kNewcombe};
  Value first{*this, {"first", "share of 1", "with it at the first place"}};
  Value last{*this, {"last", "share of 1", "with it at the last place"}};
  Interval first_drop{*this,
                      {"first_drop", "share of 1", "first place minus middle"},
                      {kNewcombe.lower, kNewcombe.upper, "first_drop"}};
  Interval last_drop{*this,
                     {"last_drop", "share of 1", "last place minus middle"},
                     {kNewcombe.lower, kNewcombe.upper, "last_drop"}};
  Interval trend{
      *this,
      {"trend", "share of 1",
       "straight-line contrast: mean of the later half of the places minus that of the earlier, each "
       "place weighted by its distance from the centre"},
      {kNewcombe.lower, kNewcombe.upper, "trend"}};
};
inline constexpr EvalMiddle eval_middle;

struct EvalColumns : TableSchema {
  constexpr EvalColumns()
      : TableSchema({kEvaluation,
                     "eval_columns",
                     "Columns of attention hidden: floating ones against as many others, on the same items",
                     {.question = "buoy eval with `columns_from`, a masked-diffusion model"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis third{*this, {"third", "name", "layers in which they were hidden: shallow, middle or deep third"}};
  Axis against{*this,
               {"against", "name", "what floating columns are held against: random or structural ones"}};
  Value items{*this, {"items", "items", "answered under both conditions"}};
  Value seen{*this, {"seen", "share of 1", "exact match with nothing hidden"}};
  Value floating{*this, {"floating", "share of 1", "with floating columns hidden"}};
  Value others{*this, {"others", "share of 1", "with as many of the others hidden"}};
  Interval difference{*this, {"difference", "share of 1", "floating minus others"}, kNewcombe};
};
inline constexpr EvalColumns eval_columns;

struct EvalPositions : TableSchema {
  constexpr EvalPositions()
      : TableSchema({kEvaluation, "eval_positions", "Exact match by the place of the gold passage"}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis passages{*this, {"passages", "passages", "in the prompt"}};
  Axis position{*this, {"position", "place", "place of the only gold passage, from 1"}};
  Value items{*this, {"items", "items", "answered items"}};
  Interval mean{*this, {"mean", "share of 1", "mean over the items"}, kWilson};
};
inline constexpr EvalPositions eval_positions;

struct EvalHaystack : TableSchema {
  constexpr EvalHaystack()
      : TableSchema({kEvaluation,
                     "eval_haystack",
                     "Exact match by length of the prompt and depth of the needle",
                     {.question = "buoy eval of questions made by buoy haystack"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis length{*this, {"length", "tokens", "of the prompt, at most, as the data say (label length)"}};
  Axis depth{*this, {"depth", "percent", "of the filler before the needle (label depth)"}};
  Value items{*this, {"items", "items", "answered items"}};
  Interval mean{*this, {"mean", "share of 1", "mean over the items"}, kWilson};
};
inline constexpr EvalHaystack eval_haystack;

struct EvalLabels : TableSchema {
  constexpr EvalLabels()
      : TableSchema({kEvaluation, "eval_labels", "Exact match by what the data says of its items"}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis label{*this, {"label", "text", "field of the data"}};
  Axis value{*this, {"value", "text", "its value"}};
  Value items{*this, {"items", "items", "answered items"}};
  Interval mean{*this, {"mean", "share of 1", "mean over the items"}, kWilson};
};
inline constexpr EvalLabels eval_labels;

struct EvalAttention : TableSchema {
  constexpr EvalAttention()
      : TableSchema({kEvaluation,
                     "eval_attention",
                     "Attention of right and of wrong answers",
                     {.observe = "features"}}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis position{*this, {"position", "place", "place of the gold passage; all: whatever it is"}};
  Axis feature{*this, {"feature", "name", "what of the attention"}};
  Value meaning{*this, {"meaning", "text", "what the feature is"}};
  Value right_items{*this, {"right_items", "items", "answers that match"}};
  Value wrong_items{*this, {"wrong_items", "items", "answers that do not"}};
  Value right{*this, {"right", "as the feature", "mean of the feature over right answers"}};
  Value wrong{*this, {"wrong", "as the feature", "mean over wrong ones"}};
  Interval difference{*this,
                      {"difference", "as the feature", "right minus wrong"},
                      {"lower end of its interval, right and wrong answers resampled apart", "upper end"}};
  Value auc{
      *this,
      {"auc", "chance", "chance that a right answer has the larger value; 0.5: the feature tells nothing"}};
};
inline constexpr EvalAttention eval_attention;

struct EvalFailures : TableSchema {
  constexpr EvalFailures() : TableSchema({kEvaluation, "eval_failures", "Items without an answer"}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Axis id{*this, {"id", "text", "of the item"}};
  Value error{*this, {"error", "text", "why"}};
};
inline constexpr EvalFailures eval_failures;

// For a terminal: the scores, their intervals beside them. Its metrics are those of all evaluation tables.
struct Overview : TableSchema {
  constexpr Overview() : TableSchema({kEvaluation, "overview", "Scores with intervals"}) {}
  Axis model{*this, {"model", "text", "name of the model"}};
  Axis set{*this, {"set", "text", "data set"}};
  Axis condition{*this, {"condition", "text", "how it was asked"}};
  Value items{*this, {"items", "items", "answered items"}};
  Value failed{*this, {"failed", "items", "items without an answer"}};
  Value exact_match{*this,
                    {"exact_match", "number with its interval",
                     "share of answers equal to a gold answer after normalisation"}};
  Value substring{*this,
                  {"substring", "number with its interval",
                   "the paper's Acc: share of answers that hold a gold answer, also inside a word"}};
  Value substring_words{*this,
                        {"substring_words", "number with its interval",
                         "share of answers that hold the words of a gold answer"}};
  Value f1{*this, {"f1", "number with its interval", "mean F1 of the words of answer and gold answer"}};
  Value words{*this, {"words", "number with its interval", "mean length of the answers in words"}};
};
inline constexpr Overview overview;

// In the order an evaluation makes them.
inline constexpr auto kEvaluationTables = std::to_array<const TableSchema*>(
    {&eval_scores, &eval_averages, &eval_gains, &eval_gain_ratio, &eval_differences, &eval_effects,
     &eval_middle, &eval_columns, &eval_positions, &eval_haystack, &eval_labels, &eval_attention,
     &eval_failures, &overview});

}  // namespace buoy::schema
