#include "experiment/answer_record.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_file.h"

namespace buoy::experiment {
namespace {

struct Metric {
  const char* name;
  double evaluate::Scores::*value;
};

constexpr Metric kMetrics[] = {{"exact_match", &evaluate::Scores::exact_match},
                               {"substring", &evaluate::Scores::substring},
                               {"substring_words", &evaluate::Scores::substring_words},
                               {"f1", &evaluate::Scores::f1},
                               {"words", &evaluate::Scores::words}};

}  // namespace

std::string to_line(const AnswerRecord& r) {
  nlohmann::ordered_json out = {{"model", r.model}, {"set", r.set},           {"condition", r.condition},
                                {"id", r.id},       {"question", r.question}, {"golds", r.golds}};
  if (r.failed()) {
    out["error"] = r.error;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  out["answer"] = r.answer;
  for (const auto& metric : kMetrics) out["scores"][metric.name] = r.scores.*metric.value;
  out["ended"] = r.ended;
  out["tokens"] = r.tokens;
  out["prompt_tokens"] = r.prompt_tokens;
  out["passages"] = r.passages;
  out["cut_passages"] = r.cut_passages;
  out["gold_positions"] = r.gold_positions;
  out["labels"] = r.labels;
  if (!r.attention.empty()) out["attention"] = r.attention;
  out["prompt"] = r.prompt;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

AnswerRecord parse_record(const std::string& line, const std::string& name) {
  const Json json = parse_json(line, name);
  const JsonObject object(json, name);
  AnswerRecord r;
  r.model = object.required_text("model");
  r.set = object.required_text("set");
  r.condition = object.required_text("condition");
  r.id = object.required_text("id");
  r.question = object.text("question").value_or("");
  try {
    r.golds = json.at("golds").get<std::vector<std::string>>();
    if (const auto error = object.text("error")) {
      r.error = *error;
      return r;
    }
    r.answer = object.required_text("answer");
    for (const auto& metric : kMetrics)
      r.scores.*metric.value = json.at("scores").at(metric.name).get<double>();
    r.ended = json.at("ended").get<bool>();
    r.tokens = object.required_integer("tokens");
    r.prompt_tokens = object.required_integer("prompt_tokens");
    r.passages = object.required_integer("passages");
    r.cut_passages = object.required_integer("cut_passages");
    r.gold_positions = json.at("gold_positions").get<std::vector<std::int64_t>>();
    r.labels = json.at("labels").get<std::map<std::string, std::string>>();
    if (json.contains("attention")) r.attention = json["attention"].get<std::map<std::string, double>>();
    r.prompt = object.required_text("prompt");
  } catch (const Json::exception& error) {
    throw_input_error({name, "a line of answers.jsonl", error.what()});
  }
  return r;
}

}  // namespace buoy::experiment
