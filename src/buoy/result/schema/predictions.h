#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kPredictions{Source::kAnalysis, "predictions", "Predictions", "predictions", ""};

struct PredictionsByStep : TableSchema {
  constexpr PredictionsByStep()
      : TableSchema({kPredictions, "predictions_by_step",
                     "What the model expects at the positions of the answer, by step, padding left out"}) {}
  Axis positions{*this,
                 {"positions", "name",
                  "masked: not yet written when the step's forward ran (every token of an autoregressive "
                  "model, at the step that wrote it); revealed: written before"}};
  Axis quantity{*this,
                {"quantity", "name",
                 "confidence: probability of the token that a revealed position holds, of the most probable "
                 "one of a masked position; entropy, in nats; margin: between the two most probable"}};
  Axis step{*this, {"step", "step", "denoising step, or number of the generated token"}};
  Interval value{
      *this, {"value", "as the quantity", "mean over samples of the mean over positions"}, kOverSamples};
  Value count{*this, {"count", "positions", "positions of all samples"}};
  Value samples{*this, {"samples", "samples", "samples with such positions"}};
};
inline constexpr PredictionsByStep predictions_by_step;

struct PredictionsSummary : TableSchema {
  constexpr PredictionsSummary()
      : TableSchema({kPredictions, "predictions_summary",
                     "When tokens of the answer are decided, and how well confidence is calibrated"}) {}
  Axis scalar{
      *this,
      {"scalar", "name",
       "reveal, commitment: step of a token's reveal, and the one since which it was on top without a break, "
       "in shares of the run; lead: how much of the run lies between; lead_steps: the same in steps; "
       "at_once: share of tokens on top from the first step on; uncommitted: share not on top when they were "
       "revealed; kept_on_top: share of revealed positions, over steps, whose token is still the most "
       "probable; reveal_confidence: confidence at the reveal; final_confidence: probability of the tokens "
       "in the finished row; right: share of right answers; step_correlation: of the confidence of positions "
       "that are masked at two consecutive steps, mean over such pairs; ece_final_token, ece_answer: "
       "expected "
       "calibration error against the final token and against right answers"}};
  Interval value{*this,
                 {"value", "as the scalar", "mean over samples; errors are of all samples together"},
                 kOverSamples};
  Value null{
      *this,
      {"null", "as the scalar",
       "of calibration errors: what confidence that is right shows with as many events; of step_correlation: "
       "0, of positions that have nothing to do with themselves a step before; else nothing"}};
  Value samples{*this, {"samples", "samples", "samples in which it is defined"}};
};
inline constexpr PredictionsSummary predictions_summary;

struct PredictionsCalibration : TableSchema {
  constexpr PredictionsCalibration()
      : TableSchema({kPredictions, "predictions_calibration",
                     "Confidence held against what came out, in ten bins of confidence"}) {}
  Axis against{*this,
               {"against", "name",
                "final_token: masked positions at steps before their reveal, right when the most probable "
                "token is the one that came; answer: whole answers by their mean confidence at the reveals, "
                "right when the answer holds an accepted one (traces that know it)"}};
  Axis bin{*this, {"bin", "number", "bin of confidence: 0 from 0 to 0.1, 9 from 0.9 to 1"}};
  Value confidence{*this, {"confidence", "share of 1", "mean confidence in the bin"}};
  Interval right{*this, {"right", "share of 1", "share of events that were right"}, kOverSamples};
  Value events{*this, {"events", "events", "events in the bin: positions times steps, or answers"}};
  Value samples{*this, {"samples", "samples", "samples that events may come from"}};
};
inline constexpr PredictionsCalibration predictions_calibration;

struct PredictionsTokens : TableSchema {
  constexpr PredictionsTokens()
      : TableSchema({kPredictions, "predictions_tokens",
                     "The tokens of one sample's answer: when each was decided and when it was written"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis position{*this, {"position", "position", "position in the row"}};
  Value token{*this, {"token", "text", "text of the token in the final row; empty when the trace has none"}};
  Value revealed_at{*this, {"revealed_at", "step", "step that wrote it; nothing: never"}};
  Value committed_at{*this,
                     {"committed_at", "step",
                      "observed step since which it was the most probable without a break until its reveal; "
                      "nothing: it was not at the last one, or steps were not observed"}};
  Value lead{*this, {"lead", "steps", "revealed_at less committed_at"}};
  Value confidence{*this, {"confidence", "share of 1", "when it was revealed"}};
  Value entropy{*this, {"entropy", "nats", "when it was revealed"}};
  Value margin{*this, {"margin", "share of 1", "when it was revealed"}};
};
inline constexpr PredictionsTokens predictions_tokens;

// In the order the analysis makes them.
inline constexpr auto kPredictionsTables = std::to_array<const TableSchema*>(
    {&predictions_by_step, &predictions_summary, &predictions_calibration, &predictions_tokens});

}  // namespace buoy::schema
