#include <gtest/gtest.h>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/retrieve/index.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

constexpr char kDocuments[] =
    R"({"id": "a", "title": "Lighthouse", "text": "The lighthouse of Porto was built in 1886 by Ada Lind."}
{"id": "b", "title": "Harbour", "text": "The harbour has a buoy that floats on chains."}
{"id": "c", "title": "Bakery", "text": "Bread is baked at four in the morning."}
)";
constexpr char kQuestions[] =
    R"({"question": "Who built the lighthouse of Porto?", "answers": ["Ada Lind"]}
{"question": "What floats in the harbour?", "answers": ["a buoy"]}
)";

class RetrieveCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!retrieve::can_index()) GTEST_SKIP() << "built without SQLite";
    const auto made = run_buoy({"index", folder_.write("docs.jsonl", kDocuments), "--out", database()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  std::string database() const { return folder_ / "docs.db"; }

  TempFolder folder_;
};

TEST_F(RetrieveCommands, SearchFindsWhatAQuestionIsAbout) {
  const auto found = run_buoy({"search", database(), "Who built the lighthouse?", "--top", "1"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_NE(found.out.find("Lighthouse"), std::string::npos) << found.out;
  EXPECT_EQ(found.out.find("Bakery"), std::string::npos) << found.out;
}

TEST_F(RetrieveCommands, EvaluationTakesItsPassagesFromTheIndexAndKeepsThem) {
  write_talking_model(folder_ / "model", false);
  const std::string out = folder_ / "run";
  const std::vector<std::string> call = {"eval",
                                         "--model",
                                         folder_ / "model",
                                         "--data",
                                         folder_.write("q.jsonl", kQuestions),
                                         "--retrieve",
                                         database(),
                                         "--top",
                                         "2",
                                         "--max-new-tokens",
                                         "2",
                                         "--out",
                                         out,
                                         "--resume"};
  const auto first = run_buoy(call);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("searched 2 questions; an answer stands in the first 2 passages of 2"),
            std::string::npos)
      << first.err;
  const std::string answers = read_file(folder_ / "run/answers.jsonl");
  EXPECT_NE(answers.find("built in 1886 by Ada Lind"), std::string::npos);
  EXPECT_EQ(answers.find("Bread is baked"), std::string::npos);
  const auto again = run_buoy(call);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("searched"), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("asked 0 in"), std::string::npos) << again.out;
}

TEST_F(RetrieveCommands, WhatIsNoIndexIsRefused) {
  const auto wrong = run_buoy({"search", folder_ / "docs.jsonl", "question"});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_TRUE(holds_in_order(wrong.err, {"docs.jsonl", "found"}));
}

}  // namespace
}  // namespace buoy::testing
