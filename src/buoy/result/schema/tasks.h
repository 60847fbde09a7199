#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kTasks{Source::kAnalysis, "tasks", "Anchors by task", "received", ""};

inline constexpr std::string_view kModelMeaning = "model: traces with the same config and weights";

struct TasksAnchors : TableSchema {
  constexpr TasksAnchors()
      : TableSchema(
            {kTasks, "tasks_anchors",
             "The anchor of every sample and layer: the position with the largest lift over uniform "
             "attention, heads averaged, in the forward over the final row (or else the last step)"}) {}
  Axis sample{*this, {"sample", "text", "id"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Value position{*this, {"position", "position", "of the anchor, in tokens from 0"}};
  Value tokens{*this, {"tokens", "tokens", "length of the row"}};
  Value relative_position{
      *this,
      {"relative_position", "share of 1", "position / last position of the row, prompt and answer: 0 to 1"}};
  Value lift{*this,
             {"lift", "times even attention",
              "received / max(1/T, what uniform attention with the same mask gives it)"}};
  Value type{*this,
             {"type", "name",
              "mask, padding, special, template, white_space, punctuation, digit, content; unknown without "
              "texts of tokens"}};
  Value token{*this, {"token", "text", "its text"}};
};
inline constexpr TasksAnchors tasks_anchors;

struct TasksByLayer : TableSchema {
  constexpr TasksByLayer()
      : TableSchema({kTasks, "tasks_by_layer",
                     "Do anchors depend on the task (claim C3)? What the task tells of the anchor's place "
                     "and type, by layer (calibrated; the paper has no estimator)"}) {}
  Axis model{*this, {"model", "text", kModelMeaning}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis set{*this,
           {"set", "name",
            "all: every task; alike: the most tasks with rows of like length (means within a tenth), where "
            "the length of prompts explains nothing"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis quantity{*this,
                {"quantity", "name",
                 "of the anchor: relative_position (position / last position of the row, prompt and answer: "
                 "0 to 1), position (in tokens: shows what the length of prompts alone does), token_type"}};
  Axis measure{
      *this,
      {"measure", "name",
       "epsilon squared: share of the variance between tasks, bias-corrected; Cramer's V: bias-corrected"}};
  Interval value{*this,
                 {"value", "as the measure",
                  "the corrected measure; nothing when all anchors are the same (distinct is 1)"},
                 kOverSamples};
  Value raw{*this, {"raw", "as the measure", "without correction: eta squared, Cramer's V"}};
  Value null{*this,
             {"null", "as the measure",
              "95% of the permutations of task labels over samples stay below this corrected value"}};
  Value p{*this, {"p", "chance", "share of permutations that give as much or more"}};
  Value p_holm{*this, {"p_holm", "chance", "the same for all layers of the quantity together (Holm)"}};
  Value layout{*this,
               {"layout", "as the measure",
                "raw measure of anchors drawn evenly over each row: what prompts give without a model"}};
  Value distinct{*this,
                 {"distinct", "values", "different values among all samples; 1: the same in all tasks"}};
  Value tasks{*this, {"tasks", "tasks", "data sets"}};
  Value samples{*this, {"samples", "samples", "of all tasks"}};
  Value fewest{*this, {"fewest", "samples", "samples of the smallest task"}};
};
inline constexpr TasksByLayer tasks_by_layer;

struct TasksByTask : TableSchema {
  constexpr TasksByTask()
      : TableSchema({kTasks, "tasks_by_task", "Where the anchors of each task stand, by layer"}) {}
  Axis model{*this, {"model", "text", kModelMeaning}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis task{*this, {"task", "text", "trace of the data set"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Interval relative_position{
      *this,
      {"relative_position", "share of 1",
       "mean over samples of position / last position of the row, prompt and answer: 0 to 1"},
      kOverSamples};
  Value deviation{*this, {"deviation", "share of 1", "population standard deviation over samples"}};
  Value position{*this, {"position", "tokens", "mean over samples, in tokens"}};
  Value type{
      *this,
      {"type", "name",
       "commonest type of the anchor: mask, padding, special, template, white_space, punctuation, digit, "
       "content; unknown without texts of tokens"}};
  Value type_share{*this, {"type_share", "share of 1", "share of samples with that type"}};
  Value samples{*this, {"samples", "samples", "samples"}};
};
inline constexpr TasksByTask tasks_by_task;

struct TasksTraces : TableSchema {
  constexpr TasksTraces() : TableSchema({kTasks, "tasks_traces", "Which traces are tasks of which model"}) {}
  Axis model{*this, {"model", "text", kModelMeaning}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Axis trace{*this, {"trace", "text", "label of the trace"}};
  Value same_as{
      *this,
      {"same_as", "text", "the task whose questions it asks again, and then it is not taken; empty: a task"}};
  Value samples{*this, {"samples", "samples", "samples"}};
  Value tokens{*this, {"tokens", "tokens", "length of the row, mean over samples"}};
  Value alike{*this, {"alike", "flag", "1: among the tasks with rows of like length"}};
};
inline constexpr TasksTraces tasks_traces;

// In the order the analysis makes them.
inline constexpr auto kTasksTables =
    std::to_array<const TableSchema*>({&tasks_anchors, &tasks_by_layer, &tasks_by_task, &tasks_traces});

}  // namespace buoy::schema
