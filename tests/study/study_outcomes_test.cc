// Verdicts that a study cannot give, known before it runs.

#include "buoy/study/study_outcomes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/claims/rules.h"
#include "buoy/claims/siblings.h"
#include "buoy/result/csv.h"
#include "buoy/study/study.h"
#include "buoy/study/study_check.h"
#include "support/temp_folder.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(BUOY_TEST_DATA).parent_path().parent_path();

std::vector<std::string> excluded(const fs::path& file) {
  auto study = read_study(file);
  const testing::TempFolder folder;
  study.out = folder / "out";
  return examine(StudyPlan(std::move(study)), Device::kCpu).excluded;
}

bool has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

std::string all_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

TEST(ExcludedOutcomes, TheDefaultStudyLeavesRoomForAll) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const auto lines = excluded(kRoot / "studies/default.toml");
  ASSERT_EQ(lines.size(), 1u) << all_of(lines);
  EXPECT_TRUE(has(lines, "known only after the run: C7"));
}

// Siblings count while they were judged by the same rules; those of another mask never do.
TEST(ExcludedOutcomes, CountTheSiblings) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const auto of = [](int siblings, const std::string& mask, const std::string& rules) {
    const testing::TempFolder folder;
    std::vector<claims::NetworkQuantity> numbers;
    for (int i = 0; i < siblings; ++i) {
      for (const bool masked_diffusion : {true, false}) {
        claims::Network network{std::string(masked_diffusion ? "d" : "a") + std::to_string(i),
                                masked_diffusion};
        network.mask = masked_diffusion ? mask : "causal";
        numbers.push_back({"C1", "a number", network, "", "", {0.1, 0, 0.2, 40}});
      }
    }
    auto csv = to_csv(claims::quantities_table(numbers));
    const auto hash = claims::rules_hash();
    for (auto at = csv.find(hash); at != std::string::npos; at = csv.find(hash, at + rules.size()))
      csv.replace(at, hash.size(), rules);
    folder.write("claim_quantities.csv", csv);
    const auto model = [](const std::string& kind) {
      return kind + " = \"" + (kRoot / ("models/planted-" + kind)).string() + "\"\n";
    };
    return excluded(folder.write("s.toml", "[models]\n" + model("diffusion") + model("autoregressive") +
                                               "[siblings]\ntables = [\"claim_quantities.csv\"]\n" +
                                               "[prompt]\nchat = \"never\"\n[[data]]\nname = \"q\"\nworld = "
                                               "{ passages = 5, count = 12 }\n[[trace]]\nname = \"t\"\n"
                                               "data = \"q\"\n"));
  };
  const std::string kinds = "about kinds of models, anything: ";
  EXPECT_FALSE(has(of(4, "full", claims::rules_hash()), kinds));
  EXPECT_TRUE(has(of(3, "full", claims::rules_hash()), kinds + "4 masked-diffusion and 4 autoregressive"));
  EXPECT_TRUE(has(of(4, "causal", claims::rules_hash()), kinds + "1 masked-diffusion and 5 autoregressive"));
  EXPECT_TRUE(has(of(4, "full", "0123"), kinds + "1 masked-diffusion and 1 autoregressive"));
}

TEST(ExcludedOutcomes, OfTheQuickStudyAreThoseThatItsSizesForbid) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const auto lines = excluded(kRoot / "studies/quick.toml");
  for (const char* line :
       {"trace attention: C8, supported or contradicted", "evaluate position: C9, supported on similar: 10 ",
        "known only after the run: C7", "C10: anything: no evaluation hides columns"})
    EXPECT_TRUE(has(lines, line)) << line << "\n" << all_of(lines);
  for (const char* line : {"C3", "C9: anything", "C1, C2"})
    EXPECT_FALSE(has(lines, line)) << line << "\n" << all_of(lines);
}

// A trace is judged by the claims whose observables it has, and by no other.
TEST(ExcludedOutcomes, FollowWhatIsObserved) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const auto of = [](const std::string& observe) {
    const testing::TempFolder folder;
    const auto model = [](const std::string& kind) {
      return kind + " = \"" + (kRoot / ("models/planted-" + kind)).string() + "\"\n";
    };
    return excluded(folder.write(
        "s.toml",
        "[models]\n" + model("diffusion") + model("autoregressive") + "[prompt]\nchat = \"never\"\n" +
            "[[data]]\nname = \"q\"\nworld = { passages = 5, count = 12 }\n[[trace]]\nname = \"t\"\n" +
            "data = \"q\"\nobserve = \"" + observe + "\"\n"));
  };
  EXPECT_TRUE(has(of("received"), "C5, C6, C8: anything: no trace observes what it takes"));
  EXPECT_FALSE(has(of("received"), "trace t: C8"));
  EXPECT_TRUE(has(of("mass"), "C1, C2, C4, C5, C6: anything: no trace observes"));
  EXPECT_TRUE(has(of("mass"), "trace t: C8, supported or contradicted"));
  EXPECT_FALSE(has(of("all"), "no trace observes"));
}

// Of the pair, with other numbers of questions and places.
std::vector<std::string> excluded_of(const std::string& questions, const std::string& models) {
  const testing::TempFolder folder;
  return excluded(folder.write(
      "s.toml", "[models]\n" + models + "[prompt]\nchat = \"never\"\n" +
                    "[[data]]\nname = \"q\"\nworld = { passages = 5, count = " + questions +
                    " }\n[[trace]]\nname = \"t\"\ndata = \"q\"\n" +
                    "[[evaluate]]\nname = \"e\"\ndata = \"q\"\n" + "sweep = \"gold-position=1-5\"\n"));
}

TEST(ExcludedOutcomes, GoWithMoreQuestionsAndComeWithFewerModels) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const auto model = [](const std::string& kind) {
    return kind + " = \"" + (kRoot / ("models/planted-" + kind)).string() + "\"\n";
  };
  const auto many = excluded_of("200", model("diffusion") + model("autoregressive"));
  EXPECT_FALSE(has(many, "C8")) << all_of(many);
  EXPECT_FALSE(has(many, "C9")) << all_of(many);
  EXPECT_TRUE(has(many, "C3: anything")) << all_of(many);
  EXPECT_TRUE(has(many, "C7: anything: no evaluation asks both kinds")) << all_of(many);
  const auto few = excluded_of("9", model("diffusion"));
  EXPECT_TRUE(has(few, "C4, C7, C8: anything: no autoregressive model")) << all_of(few);
  EXPECT_TRUE(has(few, "trace t: any decision on C1, C2, C4, C5, C6, C8: 9 questions")) << all_of(few);
}

}  // namespace
}  // namespace buoy::study
