// `buoy eval` from the questions to the tables, on every layout of the data.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/figure/draw/render.h"
#include "buoy/retrieve/index.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::run_buoy;
using testing::TempFolder;

class Eval : public ::testing::Test {
 protected:
  Eval() { testing::write_talking_model(scratch_ / "model", false); }

  testing::ProgramResult eval(const std::string& out, const std::string& data,
                              const std::vector<std::string>& more = {}) {
    std::vector<std::string> call = {"eval",
                                     "--model",
                                     (scratch_ / "model").string(),
                                     "--data",
                                     data,
                                     "--out",
                                     (scratch_ / out).string(),
                                     "--max-new-tokens",
                                     "4",
                                     "--resamples",
                                     "100",
                                     "--threads",
                                     "1"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  std::vector<Json> answers(const std::string& out) {
    std::vector<Json> lines;
    std::ifstream file(scratch_ / out / "answers.jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  static std::string sample(const std::string& name) {
    return (testing::data_folder() / "questions" / name).string();
  }

  TempFolder scratch_;
};

struct Layout {
  const char* file;
  std::size_t items, passages;  // of the first two, of the first
  const char* answer;           // one of the first item
  bool gold;                    // marked in the data
};

TEST_F(Eval, EveryLayoutPlainAndCompressed) {
  const Layout layouts[] = {
      {"kilt.jsonl", 2, 0, "Grey Sea", false}, {"authors.jsonl", 2, 2, "Ines Falk", false},
      {"fid.jsonl", 1, 2, "a reef", false},    {"lost_in_the_middle.jsonl", 1, 3, "North Harbour", true},
      {"key_value.jsonl", 1, 3, "v-8", true},  {"buoy.jsonl", 2, 2, "4 m", true},
      {"plain.jsonl", 2, 0, "4", false}};
  for (const auto& layout : layouts) {
    SCOPED_TRACE(layout.file);
    const std::string name = layout.file;
    const std::vector<std::string> two = {"--limit", "2", "--template", "shared-passages"};
    const auto plain = eval(name, sample(name), two);
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const auto lines = answers(name);
    ASSERT_EQ(lines.size(), layout.items);
    const Json& first = lines[0];
    EXPECT_EQ(first.at("condition"), layout.passages > 0 ? "passages" : "closed-book");
    EXPECT_EQ(first.at("passages"), layout.passages);
    EXPECT_EQ(first.at("golds")[0], layout.answer);
    EXPECT_EQ(first.at("gold_positions").empty(), !layout.gold);
    EXPECT_NE(first.at("prompt").get<std::string>().find(first.at("question").get<std::string>()),
              std::string::npos);

    // The same bytes compressed, under the same name, give the same answers.
    const auto packed = scratch_ / (name + ".gz");
    ASSERT_EQ(std::system(("gzip -c '" + sample(name) + "' > '" + packed.string() + "'").c_str()), 0);
    const auto compressed = eval(name + "-gz", packed.string(), two);
    ASSERT_EQ(compressed.exit_code, 0) << compressed.err;
    EXPECT_EQ(read_file(scratch_ / (name + "-gz") / "answers.jsonl"),
              read_file(scratch_ / name / "answers.jsonl"));
  }
}

TEST_F(Eval, WritesAnswersTablesFiguresAndShowsTheScores) {
  const auto data = scratch_.write("two.jsonl", read_file(sample("lost_in_the_middle.jsonl")) + "\n" +
                                                    read_file(sample("lost_in_the_middle.jsonl")));
  const auto run =
      eval("run", "harbours=" + data.string(), {"--closed-book", "--sweep", "gold-position=1,3"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"exact_match", "substring", "f1", "model", "harbours", "closed-book",
                           "gold-position=3", "6 of 6 answered"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << " not in: " << run.out;
  std::string conditions;
  for (const auto& line : answers("run")) conditions += line.at("condition").get<std::string>() + " ";
  EXPECT_EQ(conditions,
            "closed-book closed-book gold-position=1 gold-position=1 gold-position=3 gold-position=3 ");
  EXPECT_EQ(answers("run")[4].at("gold_positions"), Json({3}));
  const Json description = read_json_file(scratch_ / "run" / "run.json");
  EXPECT_EQ(description.at("data").at("harbours").at("items"), 2);
  EXPECT_TRUE(description.at("models").contains("model"));
  for (const char* file : {"summary.json", "summary.csv", "tables/eval_scores.csv", "tables/eval_gains.json"})
    EXPECT_TRUE(fs::exists(scratch_ / "run" / file)) << file;
  EXPECT_EQ(fs::exists(scratch_ / "run" / "figures" / "eval_sweep_gold-position.svg"), figure::can_render());

  const auto again =
      eval("run", "harbours=" + data.string(),
           {"--closed-book", "--sweep", "gold-position=1,3", "--resume", "--batch-tokens", "7"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("asked 0"), std::string::npos) << again.out;
}

// It would be passed over in silence.
TEST_F(Eval, AReadyPromptWithoutATemplateIsRefused) {
  const auto data = (scratch_ / "ready.jsonl").string();
  write_file_atomically(data, R"({"question": "Who?", "answers": ["Ada"], "prompt": "Who? Say it."})"
                              "\n");
  const auto refused = eval("refused", data);
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  for (const char* part :
       {"ready.jsonl", "item 000001: prompt", "a ready prompt and no template", "ready asks"})
    EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err;
  EXPECT_EQ(eval("closed", data, {"--closed-book", "--closed-book-template", "shared-closed-book"}).exit_code,
            0);
  ASSERT_EQ(eval("asked", data, {"--template", "ready"}).exit_code, 0);
  EXPECT_EQ(answers("asked").at(0).at("prompt"), "Who? Say it.");
}

TEST_F(Eval, PassagesThatDoNotFitAreCutAndCounted) {
  Json config = read_json_file(scratch_ / "model" / "config.json");
  config["max_position_embeddings"] = 300;  // bytes: this tokenizer has no longer tokens
  write_file_atomically(scratch_ / "model" / "config.json", config.dump());
  const std::string filler(400, 'x');
  const Json fits = {{"question", "Short?"}, {"answers", {"a"}}, {"passages", {{{"text", "one"}}}}};
  const Json cut = {{"question", "Long?"},
                    {"answers", {"a"}},
                    {"passages", {{{"text", "one"}}, {{"text", filler}}, {{"text", filler}}}}};
  const Json never = {
      {"question", "Endless" + std::string(300, '?')}, {"answers", {"a"}}, {"passages", {{{"text", "one"}}}}};
  const auto data =
      scratch_.write("long.jsonl", fits.dump() + "\n" + cut.dump() + "\n" + never.dump() + "\n");
  const auto run = eval("run", data.string());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("passages of 1 item were cut to fit the model's context of 300 tokens"),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("1 of 3 items failed"), std::string::npos) << run.err;
  const auto lines = answers("run");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("cut_passages"), 0);
  EXPECT_EQ(lines[1].at("cut_passages"), 2) << "one shortened, one left out";
  for (const int i : {0, 1})
    EXPECT_LE(lines[static_cast<std::size_t>(i)].at("prompt_tokens").get<int>() + 4, 300);
  EXPECT_NE(lines[1].at("prompt").get<std::string>().find("one"), std::string::npos);
  EXPECT_FALSE(lines[2].contains("answer"));
  EXPECT_NE(lines[2].at("error").get<std::string>().find("296"), std::string::npos) << lines[2].at("error");
  const Json failures = read_json_file(scratch_ / "run" / "tables" / "eval_failures.json");
  EXPECT_EQ(failures.at("rows").size(), 1u);
}

TEST_F(Eval, SearchedPassagesTakeThePlaceOfTheDatas) {
  if (!retrieve::can_index()) GTEST_SKIP() << "built without SQLite";
  const auto documents = testing::data_folder() / "retrieve" / "documents";
  const auto index = (scratch_ / "index.db").string();
  const auto made = run_buoy({"index", documents.string(), "--out", index});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto data = scratch_.write(
      "boats.jsonl",
      R"({"id": "b", "question": "Which boat carries a lighthouse?", "answers": ["lightship"]})"
      "\n");
  const auto run = eval("run", data.string(), {"--retrieve", index, "--top", "2", "--closed-book"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto lines = answers("run");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("passages"), 0);
  EXPECT_GE(lines[1].at("passages").get<int>(), 1);
  EXPECT_LE(lines[1].at("passages").get<int>(), 2);
  const auto cached = scratch_ / "run" / "retrieved";
  ASSERT_EQ(std::distance(fs::directory_iterator(cached), fs::directory_iterator()), 1);
  fs::remove(index);
  const auto resumed =
      eval("run", data.string(), {"--retrieve", index, "--top", "2", "--closed-book", "--resume"});
  EXPECT_EQ(resumed.exit_code, 3) << "the index says which passages they are: " << resumed.err;
}

}  // namespace
}  // namespace buoy
