#include "buoy/run/summary/score_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/parts/answer_parts.h"

namespace buoy::run {
namespace {

// The member of run.json that holds one entry per model, data set or condition.
const Json& entries(const JsonObject& run, const std::string& key, Json::value_t type) {
  const Json* found = run.find(key);
  if (found == nullptr || found->type() != type)
    run.fail(key, type == Json::value_t::array ? "a list" : "an object");
  return *found;
}

ModelFacts read_model(const std::string& name, const JsonObject& facts) {
  const auto masked_diffusion = facts.boolean("masked_diffusion");
  if (!masked_diffusion) facts.fail("masked_diffusion", "true or false");
  return {name, facts.required_text("family"), *masked_diffusion};
}

ConditionFacts read_condition(const JsonObject& condition) {
  ConditionFacts facts{condition.required_text("name"), "", "",
                       condition.boolean("closed_book").value_or(false)};
  if (const auto sweep = condition.object("sweep")) {
    facts.axis = sweep->required_text("axis");
    facts.value = sweep->required_text("value");
  }
  return facts;
}

void read_description(const std::filesystem::path& file, ScoreBook& book) {
  const Json json = read_json_file(file);
  const JsonObject run(json, file.string());
  for (const auto& [name, facts] : entries(run, "models", Json::value_t::object).items())
    book.models.push_back(read_model(name, {facts, fmt::format("{}: models.{}", file.string(), name)}));
  for (const auto& [name, facts] : entries(run, "data", Json::value_t::object).items())
    book.sets.push_back(name);
  for (const auto& condition : entries(run, "conditions", Json::value_t::array)) {
    const std::string where = fmt::format("{}: conditions[{}]", file.string(), book.conditions.size());
    book.conditions.push_back(read_condition({condition, where}));
    const auto same = [&](const auto& other) { return other.name == book.conditions.back().name; };
    if (std::count_if(book.conditions.begin(), book.conditions.end(), same) > 1)
      throw_input_error({where, "another name", '"' + book.conditions.back().name + "\" again"});
  }
}

// Puts answers where they belong; those that run.json does not know of, or that come twice, are refused.
class Cells {
 public:
  Cells(ScoreBook& book, std::string file) : book_(book), file_(std::move(file)) {}

  void add(AnswerRecord&& record) {
    ++line_;
    check_named("model", record.model, book_.models, [](const ModelFacts& facts) { return facts.name; });
    check_named("set", record.set, book_.sets, [](const std::string& name) { return name; });
    check_named("condition", record.condition, book_.conditions,
                [](const ConditionFacts& facts) { return facts.name; });
    const std::size_t cell = cell_of(record);
    if (!ids_[cell].insert(record.id).second)
      fail("id", "each item once", fmt::format("\"{}\" again", record.id));
    record.prompt.clear();
    auto& list = record.failed() ? book_.cells[cell].failures : book_.cells[cell].answers;
    list.push_back(std::move(record));
  }

 private:
  template <typename T, typename Name>
  void check_named(const char* key, const std::string& wanted, const std::vector<T>& list,
                   const Name& name) const {
    if (std::none_of(list.begin(), list.end(), [&](const T& one) { return name(one) == wanted; }))
      fail(key, "one that run.json names", fmt::format("\"{}\"", wanted));
  }

  // Answers come cell after cell: the last is the one to look at first.
  std::size_t cell_of(const AnswerRecord& record) {
    for (std::size_t i = book_.cells.size(); i-- > 0;) {
      const auto& cell = book_.cells[i];
      if (cell.model == record.model && cell.set == record.set && cell.condition == record.condition)
        return i;
    }
    book_.cells.push_back({record.model, record.set, record.condition, {}, {}});
    ids_.emplace_back();
    return ids_.size() - 1;
  }

  [[noreturn]] void fail(const char* key, const std::string& expected, const std::string& found) const {
    throw_input_error({fmt::format("{}:{}: {}", file_, line_, key), expected, found});
  }

  ScoreBook& book_;
  std::string file_;
  std::size_t line_ = 0;
  std::vector<std::set<std::string>> ids_;  // of every cell
};

// Names in the order in which the answers bring them, not in that of the JSON object's keys.
template <typename T, typename Name>
void order_by(std::vector<T>& list, const std::vector<std::string>& order, const Name& name) {
  const auto place = [&](const T& one) {
    return std::find(order.begin(), order.end(), name(one)) - order.begin();
  };
  std::stable_sort(list.begin(), list.end(), [&](const T& a, const T& b) { return place(a) < place(b); });
}

}  // namespace

const std::vector<Metric>& metrics() {
  const auto metric = [](const ColumnSchema& column, double questions::Scores::*value) {
    return Metric{column.name(), column.meaning(), value, &column};
  };
  static const std::vector<Metric> all = {
      metric(schema::overview.exact_match, &questions::Scores::exact_match),
      metric(schema::overview.substring, &questions::Scores::substring),
      metric(schema::overview.substring_words, &questions::Scores::substring_words),
      metric(schema::overview.f1, &questions::Scores::f1),
      metric(schema::overview.words, &questions::Scores::words)};
  return all;
}

std::vector<double> CellScores::column(const Metric& metric) const {
  std::vector<double> out;
  for (const auto& answer : answers) out.push_back(answer.scores.*metric.value);
  return out;
}

PairedColumns paired(const CellScores& a, const CellScores& b, const Metric& metric) {
  std::map<std::string, double> by_id;
  for (const auto& answer : b.answers) by_id[answer.id] = answer.scores.*metric.value;
  PairedColumns out;
  for (const auto& answer : a.answers) {
    const auto found = by_id.find(answer.id);
    if (found == by_id.end()) continue;
    out.ids.push_back(answer.id);
    out.a.push_back(answer.scores.*metric.value);
    out.b.push_back(found->second);
  }
  return out;
}

const CellScores* ScoreBook::find(const std::string& model, const std::string& set,
                                  const std::string& condition) const {
  for (const auto& cell : cells) {
    if (cell.model == model && cell.set == set && cell.condition == condition) return &cell;
  }
  return nullptr;
}

namespace {

using TakeAnswer = std::function<void(AnswerRecord&&)>;

ScoreBook scores_of(const std::filesystem::path& folder,
                    const std::function<void(const TakeAnswer& take)>& read) {
  ScoreBook book;
  read_description(folder / "run.json", book);
  Cells cells(book, (folder / kAnswersFile).string());
  read([&](AnswerRecord&& record) { cells.add(std::move(record)); });
  std::vector<std::string> models, sets;
  for (const auto& cell : book.cells) models.push_back(cell.model), sets.push_back(cell.set);
  order_by(book.models, models, [](const ModelFacts& facts) { return facts.name; });
  order_by(book.sets, sets, [](const std::string& name) { return name; });
  return book;
}

}  // namespace

ScoreBook read_scores(const std::filesystem::path& folder) {
  return scores_of(folder, [&](const TakeAnswer& take) { read_answers(folder, take); });
}

ScoreBook read_scores(const std::filesystem::path& folder, const AnswerParts& parts) {
  return scores_of(folder, [&](const TakeAnswer& take) { parts.read(take); });
}

}  // namespace buoy::run
