#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/score/metrics.h"

namespace buoy::run {

// One question asked of one model under one condition: a line of answers.jsonl.
struct AnswerRecord {
  std::string model, set, condition;  // names
  std::string id, question;
  std::vector<std::string> golds;
  std::string prompt;  // as the model read it
  std::string answer;
  bool ended = false;                 // an end marker stood behind the answer
  std::int64_t tokens = 0;            // of the answer
  std::int64_t ids_without_text = 0;  // of these: ids the tokenizer has no token for
  std::int64_t prompt_tokens = 0;
  std::int64_t passages = 0;      // in the prompt
  std::int64_t cut_passages = 0;  // left out or shortened to fit the context
  std::vector<std::int64_t> gold_positions;
  std::map<std::string, std::string> labels;
  questions::Scores scores;
  std::map<std::string, double> attention;  // with `observe`: see attention_features.h
  std::string error;                        // why there is no answer; all that was not known then is empty

  bool failed() const { return !error.empty(); }
};

std::string to_line(const AnswerRecord& record);  // one JSON object without a newline
// `name` is the file and line named in errors.
AnswerRecord parse_record(const std::string& line, const std::string& name);
// Only which question it answers: model, set, condition and id, which stand first in a line that Buoy wrote.
// Of another line everything, and then what is wrong with it is said.
AnswerRecord parse_place(std::string_view line, const std::string& name);

}  // namespace buoy::run
