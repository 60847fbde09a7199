// The bundled pair was trained to read its passages and to know nothing of these people: sweeps must show
// both.

#include <gtest/gtest.h>

#include "buoy/run/summary/summary.h"
#include "run/runs.h"

namespace buoy::run {
namespace {

using testing::exact_match;
using testing::TempFolder;

class PlantedPair : public ::testing::Test {
 protected:
  ScoreBook ask(const world::WorldSetOptions& world, const std::vector<Condition>& conditions) {
    const auto spec = testing::pair_spec(testing::write_world(scratch_, world), conditions);
    testing::run(spec, scratch_ / "run");
    return read_scores(scratch_ / "run");
  }

  TempFolder scratch_;
};

constexpr const char* kModels[] = {"diffusion", "autoregressive"};

TEST_F(PlantedPair, ReadsTheGoldPassageAtEveryPlace) {
  const auto book = ask({.count = 5, .passages = 5}, sweep("gold-position=1-5", {}));
  for (const char* model : kModels) {
    for (int place = 1; place <= 5; ++place) {
      const std::string condition = "gold-position=" + std::to_string(place);
      EXPECT_EQ(exact_match(book, model, condition), 1) << model << " " << condition;
      for (const auto& answer : book.find(model, "world", condition)->answers) {
        EXPECT_EQ(answer.gold_positions, std::vector<std::int64_t>{place});
        EXPECT_EQ(answer.passages, 5);
      }
    }
  }
}

TEST_F(PlantedPair, IsNotMisledByPassagesAboutOthers) {
  const auto book = ask({.count = 6, .passages = 1}, sweep("noise=0,1,2,4", {}));
  for (const char* model : kModels) {
    for (const int noise : {0, 1, 2, 4}) {
      const std::string condition = "noise=" + std::to_string(noise);
      EXPECT_EQ(exact_match(book, model, condition), 1) << model << " " << condition;
      for (const auto& answer : book.find(model, "world", condition)->answers)
        EXPECT_EQ(answer.passages, noise + 1);
    }
  }
}

TEST_F(PlantedPair, KnowsNothingAloneIsMisledByContradictionsAndNeedsItsSlots) {
  auto conditions = sweep("slots=1,8", {});
  conditions.push_back(testing::closed_book());
  Condition lie;
  lie.name = "contradicted";
  lie.noise = 1;
  lie.noise_kind = questions::Noise::kContradiction;
  conditions.push_back(lie);
  for (auto& condition : conditions) condition.steps = 1;  // as many as the fewest slots allow
  // One relation, so that the answers of others are universities too.
  const auto book = ask({.count = 15, .passages = 1, .relation = 2}, conditions);
  for (const char* model : kModels) {
    SCOPED_TRACE(model);
    const double read = exact_match(book, model, "slots=8");
    EXPECT_GE(read, 0.9);
    EXPECT_LE(exact_match(book, model, "closed-book"), 0.05);
    EXPECT_LE(exact_match(book, model, "contradicted"), read - 0.2);
    EXPECT_GE(exact_match(book, model, "contradicted"), 0.1) << "the right passage is there too";
    EXPECT_EQ(exact_match(book, model, "slots=1"), 0) << "universities have two words, and a token is one";
    for (const auto& answer : book.find(model, "world", "slots=1")->answers)
      EXPECT_EQ(answer.scores.words, 1) << answer.answer;
  }
}

}  // namespace
}  // namespace buoy::run
