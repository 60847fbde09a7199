// An item that cannot be asked, arranged, computed or spelt is recorded with its reason, and the run goes on.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::holds_in_order;
using testing::run_buoy;
using testing::TempFolder;

constexpr int kContext = 512;
constexpr char kPoison = '~';  // the model has no finite embedding of it

std::string line(const Json& item) {
  return item.dump() + "\n";
}

Json question(const std::string& id, const std::string& text, int passages = 2) {
  Json item = {{"id", id}, {"question", text}, {"answers", {"a"}}, {"passages", Json::array()}};
  for (int i = 0; i < passages; ++i)
    item["passages"].push_back(
        {{"text", fmt::format("passage {} of {}", i, id)}, {"gold", i == passages - 1}});
  return item;
}

// A NaN in the embedding of one token: every prompt with it has no finite numbers.
void spoil_embedding(const fs::path& folder, std::int32_t id) {
  const auto file = folder / "model.safetensors";
  std::string bytes = read_file(file);
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i)
    header = header << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  const Json tensor = Json::parse(bytes.substr(8, header)).at("model.embed_tokens.weight");
  ASSERT_EQ(tensor.at("dtype"), "BF16");
  const auto width = tensor.at("shape")[1].get<size_t>();
  const size_t at =
      8 + header + tensor.at("data_offsets")[0].get<size_t>() + static_cast<size_t>(id) * width * 2;
  bytes[at] = '\xC0', bytes[at + 1] = '\x7F';
  write_file_atomically(file, bytes);
}

class FailingItems : public ::testing::Test {
 protected:
  FailingItems() {
    testing::write_talking_model(model(), false);
    Json config = read_json_file(model() / "config.json");
    config["max_position_embeddings"] = kContext;
    write_file_atomically(model() / "config.json", config.dump());
    spoil_embedding(model(), kPoison);
  }

  fs::path model() const { return scratch_ / "model"; }

  testing::ProgramResult run(const std::string& command, const std::string& out,
                             const std::vector<std::string>& more) {
    std::vector<std::string> call = {
        command,     "--model", model().string(), "--out", (scratch_ / out).string(), "--max-new-tokens", "3",
        "--threads", "1"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  std::map<std::string, Json> answers(const std::string& out) {
    std::map<std::string, Json> by_id;
    std::ifstream file(scratch_ / out / "answers.jsonl");
    for (std::string text; std::getline(file, text);) {
      Json answer = Json::parse(text);
      by_id[answer.at("id")] = answer;
    }
    return by_id;
  }

  TempFolder scratch_;
};

// 180 questions that can be asked, 20 among them that cannot, in five different ways.
TEST_F(FailingItems, EvalEndsWithAllTheAnswersAndAllTheReasons) {
  std::string all, good;
  std::map<std::string, std::string> reasons;
  for (int i = 0; i < 200; ++i) {
    const std::string id = fmt::format("q{:03}", i);
    Json item = question(id, fmt::format("what is number {}?", i));
    switch (i % 50) {
      case 0:
        item = question(id, "no passages?", 0), reasons[id] = "at least one, for the prompt";
        break;
      case 7:
        item = {{"id", id}, {"prompt", ""}, {"answers", {"a"}}}, reasons[id] = "an empty prompt";
        break;
      case 19:
        item = {{"id", id}, {"prompt", " \n "}, {"answers", {"a"}}}, reasons[id] = "not blank";
        break;
      case 33:
        item = question(id, std::string(2 * kContext, 'w') + "?"), reasons[id] = "tokens";
        break;
      case 49:
        item = question(id, fmt::format("what is {}?", kPoison)), reasons[id] = "finite numbers";
        break;
      default:
        good += line(item);
    }
    all += line(item);
  }
  ASSERT_EQ(reasons.size(), 20u);
  const auto data = scratch_.write("all.jsonl", all).string();
  const std::vector<std::string> options = {"--passages", "2",           "--chat", "--chat-style",
                                            "llama3",     "--resamples", "100"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return more;
  };
  const auto result = run("eval", "run", with({"--data", "set=" + data}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(holds_in_order(result.out, {"20 failed:", "180 of 200 answered, 20 failed"}));
  const auto found = answers("run");
  ASSERT_EQ(found.size(), 200u);
  const Json table = read_json_file(scratch_ / "run" / "tables" / "eval_failures.json");
  ASSERT_EQ(table.at("rows").size(), 20u);
  for (const auto& [id, reason] : reasons) {
    EXPECT_NE(found.at(id).value("error", "").find(reason), std::string::npos) << found.at(id);
    EXPECT_TRUE(holds_in_order(result.out, {id + ": ", reason})) << result.out;
  }
  const std::string scores = read_file(scratch_ / "run" / "summary.csv");
  EXPECT_NE(scores.find(",180,20,exact_match,"), std::string::npos) << scores;

  // The others are answered as if the bad ones were not there.
  ASSERT_EQ(
      run("eval", "good", with({"--data", "set=" + scratch_.write("good.jsonl", good).string()})).exit_code,
      0);
  const auto alone = answers("good");
  ASSERT_EQ(alone.size(), 180u);
  for (const auto& [id, answer] : alone) {
    EXPECT_FALSE(answer.contains("error"));
    EXPECT_EQ(found.at(id), answer);
  }

  // What decides a failure cannot have changed: it is not tried again.
  const auto again = run("eval", "run", with({"--data", "set=" + data, "--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(holds_in_order(again.out, {"180 of 200 answered, 20 failed", "asked 0 in"}));
}

TEST_F(FailingItems, ARunWithoutAnyAnswerIsAnError) {
  const auto data =
      scratch_.write("q.jsonl", line(question("a", "no ~?")) + line(question("b", "and no ~?")));
  const auto all = run("eval", "run", {"--data", data.string(), "--resamples", "100"});
  EXPECT_EQ(all.exit_code, 3);
  EXPECT_TRUE(holds_in_order(all.out, {"2 failed:", "0 of 2 answered"}));
  EXPECT_TRUE(holds_in_order(all.err, {"every item of", "finite numbers"}));
  // One condition of several: it is said, and the run is one.
  const auto half =
      scratch_.write("half.jsonl", line(question("a", "fine?", 1)) + line(question("b", "good?", 1)));
  const auto some =
      run("eval", "some", {"--data", half.string(), "--sweep", "gold-position=1-2", "--resamples", "100"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_TRUE(holds_in_order(some.err, {"every item of model, half, gold-position=2 failed"}));
  EXPECT_TRUE(holds_in_order(some.out, {"2 of 4 answered, 2 failed"}));
}

TEST_F(FailingItems, TraceGoesOnAlsoWhenTheFirstFails) {
  const auto data = scratch_.write(
      "q.jsonl", line({{"id", "empty"}, {"prompt", ""}}) + line(question("fine", "what is it?")) +
                     line(question("poison", "what is ~?")) + line(question("last", "and this?")));
  const auto traced = run("trace", "t", {"--data", data.string()});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_TRUE(holds_in_order(traced.out, {"2 failed:", "empty: ", "an empty prompt",
                                          "poison: ", "finite numbers", "2 samples, 2 failed"}));
  const auto reader = trace::TraceReader::open(scratch_ / "t");
  EXPECT_TRUE(reader.complete());
  for (const auto& entry : reader.samples())
    EXPECT_EQ(entry.status == trace::Status::kDone, entry.id == "fine" || entry.id == "last") << entry.id;
}

TEST_F(FailingItems, ObservedAnswersFailOneByOneToo) {
  std::string lines;
  for (int i = 0; i < 9; ++i)
    lines +=
        line(question(fmt::format("q{}", i), i == 4 ? "what is ~?" : fmt::format("what is number {}?", i)));
  const auto data = scratch_.write("q.jsonl", lines).string();
  for (const char* tokens : {"1", "4096"}) {
    const auto result = run("eval", tokens,
                            {"--data", data, "--observe", "features", "--resamples", "100", "--batch-tokens",
                             tokens, "--timing"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(holds_in_order(result.err, {"loading ", " s, decoding ", "handing records on ",
                                            "waiting for features ", " s), writing ", " s in all\n"}));
    EXPECT_TRUE(holds_in_order(result.out, {"q4", "finite numbers", "8 of 9 answered, 1 failed"}));
  }
  const auto alone = answers("1");
  EXPECT_EQ(answers("4096"), alone);
  for (const auto& [id, answer] : alone) EXPECT_EQ(answer.contains("attention"), id != "q4") << id;
}

// Trace and eval show a model the same passages, whatever the options.
TEST_F(FailingItems, TraceAndEvalArrangePassagesAlike) {
  const auto data =
      scratch_.write("q.jsonl", line(question("four", "where?", 4)) + line(question("six", "where?", 6)))
          .string();
  int number = 0;
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{},
                                             {"--passages", "3"},
                                             {"--gold-position", "1"},
                                             {"--passages", "3", "--gold-position", "2"},
                                             {"--passages", "5", "--gold-position", "5"},
                                             {"--gold-position", "6"}}) {
    SCOPED_TRACE(fmt::format("options {}", number));
    const std::string name = std::to_string(number++);
    auto traced = options, asked = options;
    traced.insert(traced.end(), {"--data", data, "--template", "shared-passages"});
    asked.insert(asked.end(), {"--data", data, "--resamples", "100"});
    const auto trace = run("trace", "t" + name, traced);
    ASSERT_EQ(trace.exit_code, 0) << trace.err;
    const auto eval = run("eval", "e" + name, asked);
    ASSERT_EQ(eval.exit_code, 0) << eval.err;
    const auto found = answers("e" + name);
    const auto reader = trace::TraceReader::open(scratch_ / ("t" + name));
    for (const auto& entry : reader.samples()) {
      const Json& answer = found.at(entry.id);
      ASSERT_EQ(entry.status == trace::Status::kFailed, answer.contains("error")) << entry.id << answer;
      if (answer.contains("error")) {
        EXPECT_EQ(entry.error, answer["error"].get<std::string>());
        continue;
      }
      const auto sample = reader.read(entry.id);
      EXPECT_EQ(sample.text(trace::kPromptText), answer.at("prompt").get<std::string>());
      const auto gold = sample.text_list(trace::kGoldRegions);
      ASSERT_EQ(gold.size(), answer.at("gold_positions").size());
      for (size_t i = 0; i < gold.size(); ++i)
        EXPECT_EQ(gold[i], fmt::format("document {}", answer["gold_positions"][i].get<int>()));
    }
  }
  for (const char* command : {"trace", "eval"}) {
    const auto beyond = run(command, "beyond", {"--data", data, "--passages", "3", "--gold-position", "5"});
    EXPECT_EQ(beyond.exit_code, 2) << beyond.err;
    EXPECT_TRUE(holds_in_order(beyond.err, {"gold", "1 to 3", "5"}));
    EXPECT_FALSE(fs::exists(scratch_ / "beyond"));
  }
}

TEST_F(FailingItems, APromptAloneIsTheTextItself) {
  const auto data = scratch_
                        .write("p.jsonl", line({{"prompt", "Once upon a time"}, {"answers", {"a"}}}) +
                                              line({{"prompt", "there was"}, {"answers", {"a"}}}))
                        .string();
  const auto traced = run("trace", "t", {"--data", data, "--groups", "regions"});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  const auto reader = trace::TraceReader::open(scratch_ / "t");
  const auto sample = reader.read("000001");
  EXPECT_EQ(sample.text(trace::kPromptText), "Once upon a time");
  const auto names = sample.text_list(trace::kRegionNames);
  const auto regions = sample.integers(trace::kRegionOfToken);
  const auto length = static_cast<size_t>(sample.integer_text(trace::kPromptLength));
  for (size_t i = 1; i < length; ++i)
    EXPECT_EQ(names[static_cast<size_t>(regions[i])], "prompt") << "token " << i;

  const auto bare = scratch_.write("bare.jsonl", line({{"prompt", "Once upon a time"}})).string();
  EXPECT_EQ(run("trace", "bare", {"--data", bare}).exit_code, 0);
  const auto inspected = run_buoy({"inspect", bare});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_TRUE(holds_in_order(inspected.out, {"ready prompt", "1", "without answers", "1"}));

  const auto asked = run("eval", "e", {"--data", data, "--resamples", "100"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_EQ(answers("e").at("000002").at("prompt"), "there was");
}

// A disk that is full in the middle is the machine's failure, not the items': the run ends, and goes on
// later.
TEST_F(FailingItems, AFullDiskEndsTheRunAndLeavesWhatIsThere) {
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += line(question(fmt::format("q{}", i), fmt::format("what is {}?", i)));
  const auto data = scratch_.write("q.jsonl", lines).string();
  ASSERT_EQ(run("eval", "whole", {"--data", data, "--resamples", "100"}).exit_code, 0);
  std::vector<std::string> call = {"eval",
                                   "--model",
                                   model().string(),
                                   "--data",
                                   data,
                                   "--max-new-tokens",
                                   "3",
                                   "--out",
                                   (scratch_ / "full").string(),
                                   "--resamples",
                                   "100",
                                   "--threads",
                                   "1"};
  const auto full = run_buoy(call, "trap '' XFSZ; ulimit -f 8; ");
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_TRUE(holds_in_order(full.err, {"answers.partial.jsonl", "cannot write"}));
  EXPECT_FALSE(fs::exists(scratch_ / "full" / "answers.jsonl"));
  const std::string kept = read_file(scratch_ / "full" / "answers.partial.jsonl");
  EXPECT_TRUE(kept.empty() || kept.back() == '\n') << "no half line";
  call.emplace_back("--resume");
  ASSERT_EQ(run_buoy(call).exit_code, 0);
  EXPECT_EQ(read_file(scratch_ / "full" / "answers.jsonl"), read_file(scratch_ / "whole" / "answers.jsonl"));
}

TEST(IdsWithoutText, AreShownAndCountedAndEndNoRun) {
  const TempFolder scratch;
  testing::write_talking_model(scratch / "model", false, 600);  // every other id has no token
  const std::string model = (scratch / "model").string();
  const std::vector<std::string> decoding = {"--max-new-tokens", "24", "--temperature", "2", "--seed", "5"};
  const auto with = [&](std::vector<std::string> call) {
    call.insert(call.end(), decoding.begin(), decoding.end());
    return call;
  };
  const auto generated = run_buoy(with({"generate", "--model", model, "--prompt", "what floats?", "--json"}));
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  const Json out = Json::parse(generated.out);
  std::int64_t beyond = 0;
  std::string last;
  for (const auto& id : out.at("ids")) {
    if (id.get<int>() < 300) continue;
    ++beyond;
    last = fmt::format("<id {}>", id.get<int>());
  }
  ASSERT_GT(beyond, 0);
  EXPECT_EQ(out.at("ids_without_text"), beyond);
  EXPECT_NE(out.at("text").get<std::string>().find(last), std::string::npos) << out;

  const auto data = scratch.write("q.jsonl", R"({"id": "q", "question": "what floats?", "answers": ["a"]})"
                                             "\n");
  const auto asked = run_buoy(with({"eval", "--model", model, "--data", data.string(), "--out",
                                    (scratch / "e").string(), "--resamples", "100"}));
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_TRUE(holds_in_order(asked.out, {"1 of 1 answered", "ids without text in 1 answer ("}));
  const Json answer = Json::parse(read_file(scratch / "e" / "answers.jsonl"));
  EXPECT_GT(answer.at("ids_without_text").get<int>(), 0);
  EXPECT_NE(answer.at("answer").get<std::string>().find("<id "), std::string::npos) << answer;

  const auto traced = run_buoy(
      with({"trace", "--model", model, "--prompt", "what floats?", "--out", (scratch / "t").string()}));
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_TRUE(holds_in_order(traced.out, {"ids without text"}));
  const auto sample = trace::TraceReader::open(scratch / "t").read("prompt");
  const auto texts = sample.text_list(trace::kTokenTexts);
  const auto tokens = sample.integers(trace::kTokens);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (tokens[i] >= 300) {
      EXPECT_EQ(texts[i], fmt::format("<id {}>", tokens[i]));
    }
  }
}

}  // namespace
}  // namespace buoy
