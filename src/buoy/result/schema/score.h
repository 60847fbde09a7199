#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kScore{Source::kTerminal, "score", "Log-probabilities of given answers", "",
                                 "or written to files with `out`"};

struct ScoreAnswers : TableSchema {
  constexpr ScoreAnswers()
      : TableSchema({kScore, "score_answers", "Log-probability of every given answer"}) {}
  Axis item{*this, {"item", "text", "id of the question"}};
  Axis answer{*this, {"answer", "number", "which of its answers, from 1"}};
  Value text{*this, {"text", "text", "the answer, or the beginning of a text"}};
  Value form{*this,
             {"form", "name",
              "next-token; of masked diffusion one-shot, path left-to-right or path decoding (its order)"}};
  Value prompt_tokens{*this, {"prompt_tokens", "tokens", "what comes before the answer"}};
  Value tokens{*this, {"tokens", "tokens", "of the answer"}};
  Value log_probability{*this, {"log_probability", "nats", "sum over its tokens"}};
  Value per_token{*this, {"per_token", "nats", "mean over its tokens"}};
  Value perplexity{*this, {"perplexity", "ratio", "exp(-per_token)"}};
};
inline constexpr ScoreAnswers score_answers;

struct ScoreTokens : TableSchema {
  constexpr ScoreTokens() : TableSchema({kScore, "score_tokens", "Log-probability of every token"}) {}
  Axis item{*this, {"item", "text", "id of the question"}};
  Axis answer{*this, {"answer", "number", "which of its answers, from 1"}};
  Axis place{*this, {"place", "token", "in the answer, from 0"}};
  Value token{*this, {"token", "id", "of the vocabulary"}};
  Value text{*this, {"text", "text", "of the token"}};
  Value step{*this, {"step", "step", "at which it was revealed; 0 where all are scored at once"}};
  Value log_probability{*this, {"log_probability", "nats", "of the token, natural logarithm"}};
};
inline constexpr ScoreTokens score_tokens;

struct ScorePassages : TableSchema {
  constexpr ScorePassages()
      : TableSchema({kScore, "score_passages", "What every passage adds to the answer: it is left out"}) {}
  Axis item{*this, {"item", "text", "id of the question"}};
  Axis passage{*this, {"passage", "number", "place among the passages, from 1"}};
  Value gold{*this, {"gold", "0 or 1", "the data set marks it as the evidence"}};
  Value without{*this, {"without", "nats", "log-probability of the first answer without the passage"}};
  Value influence{*this,
                  {"influence", "nats", "log-probability with all passages minus that without this one"}};
  Value rank{*this, {"rank", "rank", "of its influence in the question, 1: the largest"}};
};
inline constexpr ScorePassages score_passages;

struct ScoreSummary : TableSchema {
  constexpr ScoreSummary()
      : TableSchema({kScore, "score_summary", "Log-probabilities, all questions together"}) {}
  Axis form{*this, {"form", "name", "as in score_answers"}};
  Value items{*this, {"items", "items", "questions that were scored"}};
  Value failed{*this, {"failed", "items", "questions that could not be"}};
  Value answers{*this, {"answers", "answers", "of these questions"}};
  Value tokens{*this, {"tokens", "tokens", "of all answers"}};
  Value per_token{*this, {"per_token", "nats", "mean log-probability of their tokens"}};
  Value perplexity{*this, {"perplexity", "ratio", "exp(-per_token)"}};
  Value best_first{*this,
                   {"best_first", "share of 1",
                    "questions of several answers whose first one has the largest log-probability"}};
  Value gold_first{*this,
                   {"gold_first", "share of 1",
                    "questions with passages left out whose most influential one is marked as the evidence"}};
};
inline constexpr ScoreSummary score_summary;

}  // namespace buoy::schema
