#pragma once

#include <functional>
#include <string>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/result/table.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/request.h"
#include "buoy/run/score/answer_score.h"

namespace buoy::run {

struct ScoreRequest : Request {
  ScoreOptions score;
  std::vector<questions::Item> items;
  bool leave_out = false;  // each passage in turn
  bool texts = false;      // the prompts themselves are scored, without answers
};

struct ScoredItem {
  struct Answer {
    std::string text;
    std::vector<std::int32_t> tokens;
    AnswerScore score;
  };
  struct Passage {
    bool gold = false;
    double without = 0;  // log-probability of the first answer
  };
  std::string id;
  std::int64_t prompt_tokens = 0;
  std::vector<Answer> answers;
  std::vector<Passage> passages;  // where each was left out
  std::string error;              // why it was not scored; "": it was
};

// UsageError for what no question could be scored with.
void check_score(const ScoreRequest& request, const ModelConfig& config);

// One for each item, in order; `done` is called after each.
std::vector<ScoredItem> score_items(const Context& context, LoadedModel& model, const ScoreRequest& request,
                                    const std::function<void()>& done);

// A space between prompt and answer, where neither has white space there.
std::string continuation(const std::string& prompt, const std::string& answer);

// score_summary, score_answers, score_tokens and, where passages were left out, score_passages.
std::vector<Table> score_tables(const std::vector<ScoredItem>& items, const ScoreRequest& request,
                                const LoadedModel& model);

}  // namespace buoy::run
