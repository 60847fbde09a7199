// Tables on answers whose means are known.

#include "buoy/run/summary/summary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/temp_folder.h"
#include "support/written_table.h"

namespace buoy::run {
namespace {

constexpr stats::BootstrapOptions kFast{.replicates = 200, .confidence = 0.95, .seed = 1};

// A book of two models, one of each kind, asked with passages and without.
ScoreBook book_of(const std::vector<std::string>& sets) {
  ScoreBook book;
  book.models = {{"mdm", "LLaDA", true}, {"arm", "Llama", false}};
  book.sets = sets;
  book.conditions = {{"closed-book", "", "", true}, {"passages", "", "", false}};
  return book;
}

struct Answers {
  std::string model, set, condition;
  std::vector<double> exact;  // of items "0", "1", ...; negative: failed
  std::vector<double> substring = {}, f1 = {};
};

void add(ScoreBook& book, const Answers& answers) {
  CellScores cell{answers.model, answers.set, answers.condition, {}, {}};
  for (std::size_t i = 0; i < answers.exact.size(); ++i) {
    AnswerRecord record;
    record.model = answers.model, record.set = answers.set, record.condition = answers.condition;
    record.id = std::to_string(i);
    if (answers.exact[i] < 0) {
      record.error = "too long";
      cell.failures.push_back(record);
      continue;
    }
    record.scores.exact_match = answers.exact[i];
    if (!answers.substring.empty()) record.scores.substring = answers.substring[i];
    if (!answers.f1.empty()) record.scores.f1 = answers.f1[i];
    cell.answers.push_back(record);
  }
  book.cells.push_back(cell);
}

const Table* find(const std::vector<Table>& tables, const std::string& name) {
  for (const auto& table : tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

using Where = std::vector<std::pair<std::string, std::string>>;

// The only row with these values; a failure and nothing when there is not exactly one.
std::vector<Cell> row_of(const std::vector<Table>& tables, const std::string& name, const Where& where) {
  const Table* table = find(tables, name);
  if (table == nullptr) {
    ADD_FAILURE() << "no table " << name;
    return {};
  }
  std::vector<std::vector<Cell>> found;
  for (const auto& row : table->rows) {
    bool fits = true;
    for (const auto& [column, value] : where)
      fits = fits && text_of(row[testing::column_named(*table, column)]) == value;
    if (fits) found.push_back(row);
  }
  EXPECT_EQ(found.size(), 1u) << name;
  return found.size() == 1 ? found[0] : std::vector<Cell>(table->columns.size());
}

double value(const std::vector<Table>& tables, const std::string& name, const Where& where,
             const std::string& column) {
  const auto row = row_of(tables, name, where);
  return row.empty() ? NAN : number_of(row[testing::column_named(*find(tables, name), column)]);
}

TEST(Summary, MeansCountsAndFailures) {
  ScoreBook book = book_of({"nq"});
  add(book, {"mdm", "nq", "passages", {1, 0, -1, 1, 1}, {1, 1, 0, 1, 1}, {1, 0.5, 0, 1, 1}});
  add(book, {"arm", "nq", "passages", {-1, -1, -1, -1, -1}});
  const auto tables = summarise(book, kFast);
  const Where mdm = {{"model", "mdm"}, {"metric", "exact_match"}};
  EXPECT_DOUBLE_EQ(value(tables, "eval_scores", mdm, "mean"), 0.75);
  EXPECT_LT(value(tables, "eval_scores", mdm, "lower"), 0.75);
  EXPECT_GT(value(tables, "eval_scores", mdm, "upper"), 0.75);
  EXPECT_EQ(value(tables, "eval_scores", mdm, "items"), 4);
  EXPECT_EQ(value(tables, "eval_scores", mdm, "failed"), 1);
  EXPECT_DOUBLE_EQ(value(tables, "eval_scores", {{"model", "mdm"}, {"metric", "substring"}}, "mean"), 1);
  EXPECT_DOUBLE_EQ(value(tables, "eval_scores", {{"model", "mdm"}, {"metric", "f1"}}, "mean"), 0.875);
  const Where arm = {{"model", "arm"}, {"metric", "exact_match"}, {"kind", "autoregressive"}};
  EXPECT_EQ(value(tables, "eval_scores", arm, "items"), 0);
  EXPECT_EQ(value(tables, "eval_scores", arm, "failed"), 5);
  EXPECT_TRUE(std::isnan(value(tables, "eval_scores", arm, "mean"))) << "no answer is no score of zero";
  ASSERT_NE(find(tables, "eval_failures"), nullptr);
  EXPECT_EQ(find(tables, "eval_failures")->rows.size(), 6u);
  const auto failure = row_of(tables, "eval_failures", {{"model", "mdm"}});
  EXPECT_EQ(text_of(failure[3]), "2");
  EXPECT_EQ(text_of(failure[4]), "too long");
  for (const char* name : {"eval_averages", "eval_gains", "eval_gain_ratio", "eval_attention", "eval_labels",
                           "eval_positions", "eval_differences"})
    EXPECT_EQ(find(tables, name), nullptr) << name << " has nothing to say";
}

TEST(Summary, HaystacksByLengthAndDepth) {
  ScoreBook book = book_of({"needles"});
  add(book, {"mdm", "needles", "passages", {1, 0, 1, 1, 0, -1}});
  const std::vector<std::pair<std::string, std::string>> places = {
      {"128", "0"}, {"128", "0"}, {"128", "100"}, {"1024", "0"}, {"long", "0"}};
  for (std::size_t i = 0; i < places.size(); ++i)
    book.cells[0].answers[i].labels = {{"length", places[i].first}, {"depth", places[i].second}};
  const auto tables = summarise(book, kFast);
  const auto* table = find(tables, "eval_haystack");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 3U) << "what has no number for a length is in no haystack";
  const auto cell = [&](const std::string& length, const std::string& depth, const std::string& column) {
    return value(tables, "eval_haystack", {{"length", length}, {"depth", depth}}, column);
  };
  EXPECT_EQ(cell("128", "0", "items"), 2);
  EXPECT_DOUBLE_EQ(cell("128", "0", "mean"), 0.5);
  EXPECT_LT(cell("128", "0", "lower"), 0.5);
  EXPECT_GT(cell("128", "0", "upper"), 0.5);
  EXPECT_DOUBLE_EQ(cell("128", "100", "mean"), 1);
  EXPECT_DOUBLE_EQ(cell("1024", "0", "mean"), 1);
  EXPECT_EQ(text_of(table->rows[2][testing::column_named(*table, "length")]), "1024")
      << "lengths are in order as numbers";
}

TEST(Summary, GainsAreTakenItemByItem) {
  ScoreBook book = book_of({"nq"});
  // Item 1 fails in closed book and item 4 with passages: 0, 2, 3 remain.
  add(book, {"mdm", "nq", "closed-book", {0, -1, 0, 1, 1}});
  add(book, {"mdm", "nq", "passages", {1, 1, 1, 1, -1}});
  const auto tables = summarise(book, kFast);
  const Where where = {{"model", "mdm"}, {"metric", "exact_match"}};
  EXPECT_EQ(value(tables, "eval_gains", where, "items"), 3);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gains", where, "with"), 1);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gains", where, "without"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gains", where, "gain"), 2.0 / 3);
  EXPECT_EQ(find(tables, "eval_gain_ratio"), nullptr) << "one kind alone has no ratio";
}

TEST(Summary, TheRatioOfGainsComparesTheItemsThatAllAnswered) {
  std::vector<double> zeros(20, 0), ones(20, 1), half(20);
  for (std::size_t i = 0; i < 20; ++i) half[i] = i % 2 == 0 ? 1 : 0;
  ScoreBook book = book_of({"nq"});
  add(book, {"mdm", "nq", "closed-book", zeros});
  add(book, {"mdm", "nq", "passages", ones});
  add(book, {"arm", "nq", "closed-book", zeros});
  add(book, {"arm", "nq", "passages", half});
  const Where where = {{"set", "nq"}, {"metric", "exact_match"}};
  auto tables = summarise(book, kFast);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "diffusion_gain"), 1);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "autoregressive_gain"), 0.5);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "ratio"), 2);
  EXPECT_GT(value(tables, "eval_gain_ratio", where, "lower"), 1);
  EXPECT_EQ(value(tables, "eval_gain_ratio", where, "items"), 20);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "room"), 1);
  EXPECT_TRUE(std::isnan(value(tables, "eval_gain_ratio", {{"set", "nq"}, {"metric", "words"}}, "room")))
      << "answers may be of any length";

  // Each lacks another item: as many are left, but not the same.
  book.cells.clear();
  ones[0] = -1, half[1] = -1;
  add(book, {"mdm", "nq", "closed-book", zeros});
  add(book, {"mdm", "nq", "passages", ones});
  add(book, {"arm", "nq", "closed-book", zeros});
  add(book, {"arm", "nq", "passages", half});
  tables = summarise(book, kFast);
  EXPECT_EQ(value(tables, "eval_gain_ratio", where, "items"), 18);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "autoregressive_gain"), 0.5);
  EXPECT_EQ(value(tables, "eval_gains", {{"model", "arm"}, {"metric", "exact_match"}}, "items"), 19);
  EXPECT_EQ(
      value(tables, "eval_differences", {{"condition", "passages"}, {"metric", "exact_match"}}, "items"), 18);

  // A gain that may be nothing is no divisor.
  book.cells.clear();
  add(book, {"mdm", "nq", "closed-book", {0, 0, 0, 0}});
  add(book, {"mdm", "nq", "passages", {1, 1, 1, 1}});
  add(book, {"arm", "nq", "closed-book", {0, 1, 0, 1}});
  add(book, {"arm", "nq", "passages", {1, 0, 1, 1}});
  tables = summarise(book, kFast);
  EXPECT_DOUBLE_EQ(value(tables, "eval_gain_ratio", where, "autoregressive_gain"), 0.25);
  EXPECT_TRUE(std::isnan(value(tables, "eval_gain_ratio", where, "ratio")));
}

// Of 20 items, so many are right with the gold passage at each place, named in any order.
std::vector<Table> by_place(const std::vector<int>& right_at_1_to_5) {
  ScoreBook book = book_of({"nq"});
  book.conditions.clear();
  for (const int place : {5, 1, 2, 3, 4}) {
    const std::string name = "gold-position=" + std::to_string(place);
    book.conditions.push_back({name, "gold-position", std::to_string(place), false});
    std::vector<double> exact(20, 0);
    std::fill_n(exact.begin(), right_at_1_to_5[static_cast<std::size_t>(place - 1)], 1.0);
    add(book, {"mdm", "nq", name, exact});
  }
  return summarise(book, kFast);
}

TEST(Summary, AStraightLineOverPlacesFindsABiasTowardsOneEnd) {
  const auto falling = by_place({20, 15, 10, 5, 0});
  EXPECT_DOUBLE_EQ(value(falling, "eval_middle", {}, "drop"), 0) << "both ends together hide it";
  EXPECT_DOUBLE_EQ(value(falling, "eval_middle", {}, "first_drop"), 0.5);
  EXPECT_DOUBLE_EQ(value(falling, "eval_middle", {}, "last_drop"), -0.5);
  // Weights 2 and 1 on each side of the centre: (0 * 2 + 0.25) / 3 - (1 * 2 + 0.75) / 3.
  EXPECT_NEAR(value(falling, "eval_middle", {}, "trend"), -2.5 / 3, 1e-12);
  EXPECT_LT(value(falling, "eval_middle", {}, "trend_upper"), -0.05) << "beyond the margin of C9";
}

TEST(Summary, AStraightLineOverPlacesFindsNothingWhereAllPlacesAreAlikeOrTheMiddleIsLost) {
  const auto flat = by_place({10, 10, 10, 10, 10}), lost = by_place({15, 10, 5, 10, 15});
  for (const auto* column : {"drop", "first_drop", "last_drop", "trend"})
    EXPECT_NEAR(value(flat, "eval_middle", {}, column), 0, 1e-12) << column;
  EXPECT_NEAR(value(lost, "eval_middle", {}, "trend"), 0, 1e-12);
  EXPECT_GT(value(lost, "eval_middle", {}, "drop"), 0.2);
  EXPECT_LE(value(lost, "eval_middle", {}, "trend_lower"), 0);
}

TEST(Summary, AveragesAreThePapersAndThatOfAllItems) {
  ScoreBook book = book_of({"nq", "tqa"});
  add(book, {"mdm", "nq", "passages", {0, 0}, {1, 0}, {0.8, 0.2}});
  add(book, {"mdm", "tqa", "passages", {1, 1, 0, 0}, {1, 1, 1, 0}, {1, 1, 0.9, 0.3}});
  const auto tables = summarise(book, kFast);
  // Two cells per set, substring and F1, all weighing the same: (0.5 + 0.5 + 0.75 + 0.8) / 4.
  const std::vector<questions::SetScores> sets = {{"nq", 2, {.substring = 0.5, .f1 = 0.5}},
                                                  {"tqa", 4, {.substring = 0.75, .f1 = 0.8}}};
  const double cells = value(tables, "eval_averages", {{"model", "mdm"}, {"metric", "cells"}}, "mean");
  EXPECT_NEAR(cells, 0.6375, 1e-12);
  EXPECT_NEAR(cells, questions::cell_average(sets), 1e-12);
  EXPECT_NEAR(value(tables, "eval_averages", {{"metric", "exact_match"}}, "mean"), 2.0 / 6, 1e-12);
  EXPECT_EQ(value(tables, "eval_averages", {{"metric", "cells"}}, "sets"), 2);
}

TEST(Summary, PlacesLabelsAndAttentionAreTakenApart) {
  ScoreBook book = book_of({"nq"});
  add(book, {"mdm", "nq", "passages", {1, 1, 0, 1, 0, 0}});
  const double mass[] = {0.9, 0.5, 0.5, 0.7, 0.1, 0.2};
  for (std::size_t i = 0; i < 6; ++i) {
    auto& answer = book.cells[0].answers[i];
    answer.passages = 2;
    answer.gold_positions = {i < 3 ? 1 : 2};
    answer.labels = {{"kind", i % 2 == 0 ? "even" : "odd"}, {"name", "the same"}};
    answer.attention = {{"gold_mass", mass[i]}};
  }
  book.cells[0].answers[5].gold_positions = {1, 2};  // two gold passages have no one place
  const auto tables = summarise(book, kFast);
  EXPECT_NEAR(value(tables, "eval_positions", {{"position", "1"}}, "mean"), 2.0 / 3, 1e-12);
  EXPECT_NEAR(value(tables, "eval_positions", {{"position", "2"}}, "mean"), 0.5, 1e-12);
  EXPECT_NEAR(value(tables, "eval_labels", {{"label", "kind"}, {"value", "odd"}}, "mean"), 2.0 / 3, 1e-12);
  EXPECT_EQ(find(tables, "eval_labels")->rows.size(), 2u) << "one value groups nothing";
  // Right: 0.9, 0.5, 0.7. Wrong: 0.5, 0.1, 0.2. Of nine pairs eight are won and one is tied.
  const Where all = {{"position", "all"}, {"feature", "gold_mass"}};
  EXPECT_NEAR(value(tables, "eval_attention", all, "right"), 0.7, 1e-12);
  EXPECT_NEAR(value(tables, "eval_attention", all, "wrong"), 0.8 / 3, 1e-12);
  EXPECT_NEAR(value(tables, "eval_attention", all, "difference"), 0.7 - 0.8 / 3, 1e-12);
  EXPECT_NEAR(value(tables, "eval_attention", all, "auc"), 8.5 / 9, 1e-12);
  const Where first = {{"position", "1"}, {"feature", "gold_mass"}};
  EXPECT_EQ(value(tables, "eval_attention", first, "right_items"), 2);
  EXPECT_EQ(value(tables, "eval_attention", first, "wrong_items"), 1);
  EXPECT_NEAR(value(tables, "eval_attention", first, "auc"), 0.75, 1e-12);
}

TEST(Summary, IsWrittenAsJsonAndAsOneTableForSpreadsheets) {
  ScoreBook book = book_of({"nq"});
  add(book, {"mdm", "nq", "passages", {1, 0}});
  const auto tables = summarise(book, kFast);
  const testing::TempFolder scratch;
  write_summary(tables, scratch.path());
  const Json json = read_json_file(scratch / "summary.json");
  EXPECT_EQ(json.at("tables").size(), tables.size());
  EXPECT_EQ(json["tables"][0]["name"], "eval_scores");
  const std::string csv = read_file(scratch / "summary.csv");
  EXPECT_EQ(csv, to_csv(tables[0]));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 5) << "a header and five metrics";
  const Table shown = overview(tables);
  ASSERT_EQ(shown.rows.size(), 1u);
  EXPECT_EQ(text_of(shown.rows[0][testing::column_named(shown, "exact_match")]).substr(0, 7), "0.500 [");
}

}  // namespace
}  // namespace buoy::run
