#include "experiment/score_book.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_file.h"
#include "experiment/answer_file.h"

namespace buoy::experiment {
namespace {

void read_description(const std::filesystem::path& file, ScoreBook& book) {
  const Json run = read_json_file(file);
  try {
    for (const auto& [name, facts] : run.at("models").items())
      book.models.push_back(
          {name, facts.at("family").get<std::string>(), facts.at("masked_diffusion").get<bool>()});
    for (const auto& [name, facts] : run.at("data").items()) book.sets.push_back(name);
    for (const auto& condition : run.at("conditions")) {
      ConditionFacts facts{condition.at("name").get<std::string>(), "", "",
                           condition.value("closed_book", false)};
      if (condition.contains("sweep")) {
        facts.axis = condition["sweep"].at("axis").get<std::string>();
        facts.value = condition["sweep"].at("value").get<std::string>();
      }
      book.conditions.push_back(std::move(facts));
    }
  } catch (const Json::exception& error) {
    throw_input_error({file.string(), "run.json of buoy eval", error.what()});
  }
}

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
  static const std::vector<Metric> all = {
      {"exact_match", "share of answers equal to a gold answer after normalisation",
       &evaluate::Scores::exact_match},
      {"substring", "the paper's Acc: share of answers that hold a gold answer, also inside a word",
       &evaluate::Scores::substring},
      {"substring_words", "share of answers that hold the words of a gold answer",
       &evaluate::Scores::substring_words},
      {"f1", "mean F1 of the words of answer and gold answer", &evaluate::Scores::f1},
      {"words", "mean length of the answers in words", &evaluate::Scores::words}};
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

ScoreBook read_scores(const std::filesystem::path& folder) {
  ScoreBook book;
  read_description(folder / "run.json", book);
  read_answers(folder, [&](AnswerRecord&& record) {
    if (book.cells.empty() || book.cells.back().model != record.model ||
        book.cells.back().set != record.set || book.cells.back().condition != record.condition)
      book.cells.push_back({record.model, record.set, record.condition, {}, {}});
    record.prompt.clear();
    auto& cell = book.cells.back();
    (record.failed() ? cell.failures : cell.answers).push_back(std::move(record));
  });
  std::vector<std::string> models, sets;
  for (const auto& cell : book.cells) models.push_back(cell.model), sets.push_back(cell.set);
  order_by(book.models, models, [](const ModelFacts& facts) { return facts.name; });
  order_by(book.sets, sets, [](const std::string& name) { return name; });
  return book;
}

}  // namespace buoy::experiment
