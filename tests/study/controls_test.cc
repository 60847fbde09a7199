// Untrained networks beside the traces of a study.

#include "buoy/study/design/controls.h"

#include <gtest/gtest.h>

#include "buoy/study/study_check.h"
#include "buoy/study/study_plan.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(BUOY_TEST_DATA).parent_path().parent_path();

std::string model_line(const std::string& name, const std::string& kind) {
  return name + " = \"" + (kRoot / ("models/planted-" + kind)).string() + "\"\n";
}

class ControlsOfAStudy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  }

  StudyPlan plan(const std::string& top, const std::string& models) {
    auto study = read_study(folder_.write(
        "s.toml", top + "[models]\n" + models + "[prompt]\nchat = \"never\"\n" +
                      "[[data]]\nname = \"q\"\nworld = { passages = 2, count = 60 }\n" +
                      "[[trace]]\nname = \"both\"\ndata = \"q\"\n" +
                      "[[trace]]\nname = \"one\"\ndata = \"q\"\nmodels = [\"b\"]\nlimit = 12\n"));
    study.out = folder_ / "out";
    return StudyPlan(std::move(study));
  }

  testing::TempFolder folder_;
};

TEST_F(ControlsOfAStudy, ThereIsOneForEachConfigAndSeed) {
  const auto models =
      model_line("a", "diffusion") + model_line("b", "autoregressive") + model_line("c", "diffusion");
  const auto usual = plan("", models);
  const auto twins = untrained_twins(usual);
  ASSERT_EQ(twins.size(), 2u);
  EXPECT_EQ(twins[0].model.name, "untrained-a");
  EXPECT_EQ(twins[0].of, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(twins[0].model.untrained_seed, 1u);
  EXPECT_EQ(twins_of(twins, usual, usual.study().traces[0]).size(), 2u);
  const auto of_one = twins_of(twins, usual, usual.study().traces[1]);
  ASSERT_EQ(of_one.size(), 1u);
  EXPECT_EQ(of_one[0].model.name, "untrained-b");

  EXPECT_TRUE(untrained_twins(plan("[controls]\nuntrained = 0\n", models)).empty());
  const auto more = untrained_twins(plan("[controls]\nuntrained = 2\nseed = 5\n", models));
  ASSERT_EQ(more.size(), 4u);
  EXPECT_EQ(more[1].model.name, "untrained-a-2");
  EXPECT_EQ(more[1].model.untrained_seed, 6u);
  EXPECT_EQ(more[1].of, (std::vector<std::string>{"a", "c"}));
}

TEST_F(ControlsOfAStudy, ModelsThatDecodeOtherwiseHaveControlsOfTheirOwn) {
  const auto path = (kRoot / "models/planted-diffusion").string();
  const auto of = plan("", "a = \"" + path + "\"\n" + model_line("b", "autoregressive") +
                               "[models.c]\npath = \"" + path + "\"\nsteps = 2\n");
  EXPECT_EQ(untrained_twins(of).size(), 3u);
}

TEST_F(ControlsOfAStudy, TheCheckCountsThem) {
  const auto with = plan("", model_line("a", "diffusion") + model_line("b", "autoregressive"));
  const auto findings = examine(with, Device::kCpu);
  EXPECT_TRUE(findings.problems.empty()) << findings.problems.front();
  std::map<std::string, const StudyPart*> parts;
  for (const auto& part : findings.parts) parts[part.name] = &part;
  ASSERT_TRUE(parts.contains("trace both, untrained-a"));
  const auto& model = *parts.at("trace both, a");
  const auto& control = *parts.at("trace both, untrained-a");
  EXPECT_EQ(model.questions, 60u);
  EXPECT_EQ(control.questions, 15u);
  EXPECT_EQ(4 * control.forwards, model.forwards);
  EXPECT_GT(control.bytes, 0u);
  EXPECT_LT(control.bytes, model.bytes);
  EXPECT_EQ(parts.at("trace one, untrained-b")->questions, 10u) << "at least 10";
  EXPECT_FALSE(parts.contains("trace one, untrained-a"));
}

TEST_F(ControlsOfAStudy, TheCheckSaysWhatCanBeFound) {
  const auto with = plan("", model_line("a", "diffusion") + model_line("b", "autoregressive"));
  std::string lines;
  for (const auto& line : examine(with, Device::kCpu).detectable) lines += line + "\n";
  EXPECT_TRUE(testing::holds_in_order(
      lines, {"power of 80%", "trace both, 60 questions: C1: Spearman of anchor and step from 0.", "C4: "}))
      << lines;
  EXPECT_EQ(lines.find("trace one"), std::string::npos) << "no diffusion model: nothing to find";
  EXPECT_EQ(lines.find("kinds"), std::string::npos) << "too few networks";
}

TEST_F(ControlsOfAStudy, TheirNamesAreKeptFree) {
  EXPECT_TRUE(testing::fails_with<InputError>(
      [&] { plan("", model_line("untrained-a", "diffusion") + model_line("b", "autoregressive")); },
      {"models", "untrained-", "\"untrained-a\""}));
}

TEST(ControlQuestions, AreAQuarterAndAtLeastTenSpreadEvenly) {
  EXPECT_EQ(control_questions(7), 7u);
  EXPECT_EQ(control_questions(24), 10u);
  EXPECT_EQ(control_questions(64), 16u);
  EXPECT_EQ(control_questions(201), 51u);
  std::vector<questions::Item> items(40);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].id = std::to_string(i);
  const auto some = control_items(items);
  ASSERT_EQ(some.size(), 10u);
  EXPECT_EQ(some[1].id, "4");
  EXPECT_EQ(some.back().id, "36");
}

}  // namespace
}  // namespace buoy::study
