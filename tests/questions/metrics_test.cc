#include "buoy/questions/score/metrics.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

#include "buoy/base/error.h"
#include "buoy/base/file/gzip.h"
#include "questions/questions_data.h"

namespace buoy::questions {
namespace {

using Json = nlohmann::json;

Scores published(std::string_view answer, const std::vector<std::string>& golds) {
  return score_answer(answer, golds, Normalisation::kPublished);
}

// Made by tests/questions/metric_oracle.py, in Python, from the definitions alone.
TEST(Metrics, AgreeWithAnIndependentImplementation) {
  std::istringstream table(read_plain_or_gzip(data_file("metric_cases.tsv.gz")));
  std::string line;
  int cases = 0;
  while (std::getline(table, line)) {
    if (line.starts_with('#')) continue;
    std::vector<Json> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(Json::parse(cell));
    ASSERT_EQ(cells.size(), 9U) << line;
    SCOPED_TRACE(line);
    const auto rule = cells[0] == "published" ? Normalisation::kPublished : Normalisation::kUnicode;
    const auto answer = cells[1].get<std::string>();
    const Scores scores = score_answer(answer, cells[2].get<std::vector<std::string>>(), rule);
    EXPECT_EQ(normalise(answer, rule), cells[3].get<std::string>());
    EXPECT_EQ(scores.exact_match, cells[4].get<double>());
    EXPECT_EQ(scores.substring, cells[5].get<double>());
    EXPECT_EQ(scores.substring_words, cells[6].get<double>());
    EXPECT_DOUBLE_EQ(scores.f1, cells[7].get<double>());
    EXPECT_EQ(scores.words, cells[8].get<double>());
    ++cases;
  }
  EXPECT_GT(cases, 400);
}

TEST(Metrics, PublishedNormalisation) {
  const auto norm = [](std::string_view text) { return normalise(text, Normalisation::kPublished); };
  EXPECT_EQ(norm("The  Beatles' \"White\" Album."), "beatles white album");
  EXPECT_EQ(norm("an apple-pie a day"), "applepie day") << "punctuation is deleted, not replaced";
  EXPECT_EQ(norm("a.b"), "ab") << "articles are looked for when punctuation is gone";
  EXPECT_EQ(norm("theatre"), "theatre");
  EXPECT_EQ(norm("1939\u20131945"), "1939\u20131945") << "other than ASCII punctuation stays";
}

TEST(Metrics, UnicodeNormalisation) {
  const auto norm = [](std::string_view text) { return normalise(text, Normalisation::kUnicode); };
  EXPECT_EQ(norm("cafe\u0301"), norm("Caf\u00c9"));
  EXPECT_EQ(norm("\uff21\uff22\uff23 \uff0c\uff11"), "abc 1");
  EXPECT_EQ(norm("STRASSE"), norm("Stra\u00dfe"));
  EXPECT_NE(norm("\u0131"), norm("i")) << "dotless i is another letter";
  EXPECT_EQ(norm("1939\u20131945"), norm("1939-1945"));
  EXPECT_EQ(norm("a\u0300 la"), "\u00e0 la") << "an accent keeps a letter from being an article";
}

TEST(Metrics, SubstringIsBlindToWords) {
  const Scores scores = published("It is in Comparison Street.", {"Paris"});
  EXPECT_EQ(scores.substring, 1);
  EXPECT_EQ(scores.substring_words, 0);
  EXPECT_EQ(scores.exact_match, 0);
  EXPECT_EQ(scores.words, 5);
}

TEST(Metrics, LargestOverTheGolds) {
  const Scores scores = published("Paris, France", {"London", "Paris France", "France"});
  EXPECT_EQ(scores.exact_match, 1);
  EXPECT_EQ(scores.f1, 1);
  EXPECT_DOUBLE_EQ(published("Paris, France", {"London", "France"}).f1, 2.0 / 3);
  EXPECT_EQ(published("anything", {}).f1, 0) << "no gold, no points";
}

TEST(Metrics, EmptySides) {
  EXPECT_EQ(published("", {"the"}).f1, 1);
  EXPECT_EQ(published("", {"the"}).exact_match, 1);
  EXPECT_EQ(published("", {"the"}).substring, 0);
  EXPECT_EQ(published("", {"Paris"}).f1, 0);
  EXPECT_EQ(published("Paris", {"the"}).substring, 0);
  EXPECT_EQ(published("Paris", {"the"}).substring_words, 0);
}

TEST(Metrics, BytesThatAreNoTextDoNoHarm) {
  EXPECT_EQ(published("Par\xFFis \xE4", {"Paris"}).substring, 0);
  EXPECT_EQ(published("\xFFParis", {"Paris"}).substring, 1);
}

TEST(Metrics, MeanOfASet) {
  const std::vector<Scores> items = {{1, 1, 1, 1, 2}, {0, 1, 0, 0.5, 5}, {0, 0, 0, 0, 5}};
  const SetScores set = mean_scores("nq", items);
  EXPECT_EQ(set.items, 3U);
  EXPECT_DOUBLE_EQ(set.mean.exact_match, 1.0 / 3);
  EXPECT_DOUBLE_EQ(set.mean.substring, 2.0 / 3);
  EXPECT_DOUBLE_EQ(set.mean.substring_words, 1.0 / 3);
  EXPECT_DOUBLE_EQ(set.mean.f1, 0.5);
  EXPECT_DOUBLE_EQ(set.mean.words, 4);
  EXPECT_THROW(mean_scores("empty", {}), UsageError);
}

std::vector<SetScores> row_of_table(const std::vector<double>& cells) {
  std::vector<SetScores> sets;
  for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
    SetScores set{"set", 1, {}};
    set.mean.substring = cells[i];
    set.mean.f1 = cells[i + 1];
    sets.push_back(set);
  }
  return sets;
}

// The published table 1: five sets, Acc and F1 each, and the "Avg." the authors print.
TEST(Metrics, CellAverageIsTheAuthorsAverage) {
  struct Row {
    std::vector<double> cells;
    double average;
  };
  const std::vector<Row> rows = {
      {{15.69, 32.07, 61.52, 70.78, 0.30, 16.78, 10.61, 23.83, 23.28, 34.01}, 28.89},
      {{35.92, 50.63, 74.84, 81.15, 0.90, 15.15, 20.93, 29.80, 24.60, 28.61}, 36.25},
      {{14.95, 27.20, 52.58, 59.14, 0.20, 11.20, 19.05, 27.75, 31.20, 37.65}, 28.09},
      {{34.16, 50.07, 72.61, 80.35, 0.50, 16.11, 24.50, 34.05, 30.02, 34.97}, 37.74},
      {{17.48, 27.13, 47.81, 53.37, 0.53, 13.36, 16.96, 24.30, 27.54, 33.22}, 26.16},
      {{38.66, 53.22, 76.39, 82.32, 0.90, 19.25, 24.23, 34.17, 29.46, 35.42}, 39.39},
      {{11.77, 21.47, 37.11, 42.88, 0.70, 11.48, 15.18, 22.55, 28.92, 33.26}, 22.52},
      {{55.30, 59.78, 84.90, 85.89, 2.33, 30.52, 35.79, 39.40, 43.02, 45.09}, 48.20},
  };
  for (const Row& row : rows) EXPECT_NEAR(cell_average(row_of_table(row.cells)), row.average, 0.013);
  EXPECT_THROW(cell_average({}), UsageError);
}

TEST(Metrics, ItemAverageWeighsSetsByTheirSize) {
  std::vector<SetScores> sets = row_of_table({1, 1, 0, 0.5});
  sets[0].items = 1;
  sets[1].items = 3;
  EXPECT_DOUBLE_EQ(item_average(sets).substring, 0.25);
  EXPECT_DOUBLE_EQ(item_average(sets).f1, 0.625);
  EXPECT_DOUBLE_EQ(cell_average(sets), 0.625);
}

}  // namespace
}  // namespace buoy::questions
