#include "buoy/run/answer_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "buoy/base/file/json_file.h"

namespace buoy::run {
namespace {

constexpr double kMost = 1e9;  // past all that is measured, and no sum of such numbers overflows

struct MetricField {
  const char* name;
  double questions::Scores::*value;
  double most;
};

constexpr MetricField kMetrics[] = {{"exact_match", &questions::Scores::exact_match, 1},
                                    {"substring", &questions::Scores::substring, 1},
                                    {"substring_words", &questions::Scores::substring_words, 1},
                                    {"f1", &questions::Scores::f1, 1},
                                    {"words", &questions::Scores::words, kMost}};

JsonObject required_object(const JsonObject& object, const std::string& key) {
  const auto found = object.object(key);
  if (!found) object.fail(key, "an object");
  return *found;
}

std::int64_t count(const JsonObject& object, const std::string& key) {
  return object.required_integer(key, {0, static_cast<std::int64_t>(kMost)});
}

struct Range {
  double least, most;
};

double number_within(const JsonObject& object, const std::string& key, const Range& range) {
  const double found = object.required_number(key);
  if (found < range.least || found > range.most)
    object.fail(key, fmt::format("a number from {} to {}", range.least, range.most));
  return found;
}

bool is_place(const Json& json) {
  return json.is_number_unsigned() && json.get<std::uint64_t>() >= 1 &&
         json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMost);
}

template <typename T, typename Fits>
std::vector<T> list_of(const JsonObject& object, const std::string& key, const std::string& expected,
                       const Fits& fits) {
  const Json* list = object.find(key);
  const auto wrong = [&](const Json& element) { return !std::invoke(fits, element); };
  if (list == nullptr || !list->is_array() || std::any_of(list->begin(), list->end(), wrong))
    object.fail(key, expected);
  return list->get<std::vector<T>>();
}

// Takes `before` and the text in quotes behind it from the front of a line; nothing where they do not stand
// there, or the text holds what JSON escapes.
std::optional<std::string> take_plain_text(std::string_view& line, std::string_view before) {
  if (!line.starts_with(before)) return std::nullopt;
  const auto end = line.find('"', before.size());
  const auto text = line.substr(before.size(), end == std::string_view::npos ? end : end - before.size());
  const auto plain = [](char c) { return c != '\\' && c >= ' ' && c <= '~'; };
  if (end == std::string_view::npos || !std::all_of(text.begin(), text.end(), plain)) return std::nullopt;
  line.remove_prefix(end + 1);
  return std::string(text);
}

}  // namespace

std::string to_line(const AnswerRecord& r) {
  nlohmann::ordered_json out = {{"model", r.model}, {"set", r.set},           {"condition", r.condition},
                                {"id", r.id},       {"question", r.question}, {"golds", r.golds}};
  if (r.failed()) {
    out["error"] = r.error;
    return dump_json(out);
  }
  out["answer"] = r.answer;
  for (const auto& metric : kMetrics) out["scores"][metric.name] = r.scores.*metric.value;
  out["ended"] = r.ended;
  out["tokens"] = r.tokens;
  if (r.ids_without_text > 0) out["ids_without_text"] = r.ids_without_text;
  out["prompt_tokens"] = r.prompt_tokens;
  out["passages"] = r.passages;
  out["cut_passages"] = r.cut_passages;
  out["gold_positions"] = r.gold_positions;
  out["labels"] = r.labels;
  if (!r.attention.empty()) out["attention"] = r.attention;
  out["prompt"] = r.prompt;
  return dump_json(out);
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
  r.golds = list_of<std::string>(object, "golds", "a list of texts", &Json::is_string);
  if (const auto error = object.text("error")) {
    if (error->empty()) object.fail("error", "why there is no answer");
    r.error = *error;
    return r;
  }
  r.answer = object.required_text("answer");
  const JsonObject scores = required_object(object, "scores");
  for (const auto& metric : kMetrics)
    r.scores.*metric.value = number_within(scores, metric.name, {0, metric.most});
  const auto ended = object.boolean("ended");
  if (!ended) object.fail("ended", "true or false");
  r.ended = *ended;
  r.tokens = count(object, "tokens");
  if (object.find("ids_without_text") != nullptr) r.ids_without_text = count(object, "ids_without_text");
  r.prompt_tokens = count(object, "prompt_tokens");
  r.passages = count(object, "passages");
  r.cut_passages = count(object, "cut_passages");
  r.gold_positions = list_of<std::int64_t>(object, "gold_positions", "a list of places, from 1", &is_place);
  const JsonObject labels = required_object(object, "labels");
  for (const auto& [key, value] : json["labels"].items()) r.labels[key] = labels.required_text(key);
  if (const auto attention = object.object("attention")) {
    for (const auto& [key, value] : json["attention"].items())
      r.attention[key] = number_within(*attention, key, {-kMost, kMost});
  }
  r.prompt = object.required_text("prompt");
  return r;
}

AnswerRecord parse_place(std::string_view line, const std::string& name) {
  AnswerRecord r;
  std::string_view rest = line;
  for (const auto& [before, text] : {std::pair{R"({"model":")", &r.model},
                                     {R"(,"set":")", &r.set},
                                     {R"(,"condition":")", &r.condition},
                                     {R"(,"id":")", &r.id}}) {
    auto found = take_plain_text(rest, before);
    if (!found) return parse_record(std::string(line), name);
    *text = *std::move(found);
  }
  return r;
}

}  // namespace buoy::run
