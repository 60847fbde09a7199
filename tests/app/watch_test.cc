// `buoy watch` through the program: its files are those of `buoy trace` and `buoy analyze`, and what fails is
// said. tests/run/live_test.cc looks at the library.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <regex>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::holds_in_order;
using testing::pair_folder;
using testing::run_buoy;
using testing::TempFolder;

using Files = std::map<std::string, std::string>;  // by their path in the folder

Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  }
  return files;
}

// Tables and figures, without the trace around them.
Files results_of(const fs::path& folder) {
  Files files = files_of(folder);
  std::erase_if(files, [](const auto& file) {
    return file.first == "manifest.json" || file.first.starts_with("samples/");
  });
  return files;
}

void expect_same(const Files& found, const Files& expected) {
  for (const auto& [name, bytes] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_TRUE(found.at(name) == bytes) << name << " differs";
  }
  EXPECT_EQ(found.size(), expected.size());
}

class WatchPair : public ::testing::TestWithParam<bool> {
 protected:
  WatchPair() {
    const auto world = run_buoy({"world", "--count", "3", "--passages", "3", "--out", data()});
    EXPECT_EQ(world.exit_code, 0) << world.err;
  }

  std::string data() const { return scratch_ / "q.jsonl"; }

  testing::ProgramResult run(const std::string& command, const std::string& out,
                             const std::vector<std::string>& more) {
    std::vector<std::string> call = {command,
                                     "--model",
                                     pair_folder(GetParam()).string(),
                                     "--data",
                                     data(),
                                     "--template",
                                     (pair_folder(true) / ".." / "planted.prompt").string(),
                                     "--max-new-tokens",
                                     "6",
                                     "--out",
                                     scratch_ / out};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  TempFolder scratch_;
};
INSTANTIATE_TEST_SUITE_P(Pair, WatchPair, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(WatchPair, WritesTheFilesOfTraceAndAnalyze) {
  const auto watched = run("watch", "watched", {"--timing", "--threads", "3"});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_TRUE(holds_in_order(watched.out, {(scratch_ / "watched").string(), " tables, ", " figures\n"}));
  EXPECT_TRUE(holds_in_order(watched.err, {"loading ", " s, decoding ", "handing records on ",
                                           "waiting for analyses ", "tables ", "writing ", " s in all\n"}));

  const auto traced = run("trace", "trace", {"--observe", "all", "--groups", "regions"});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  const std::string trace = pair_folder(GetParam()).filename().string() + "=" + (scratch_ / "trace").string();
  for (const auto& kind : analysis::analysis_kinds()) {
    if (kind.on_request) continue;
    const auto analysed =
        run_buoy({"analyze", std::string(kind.producer.name), trace, "--out", scratch_ / "analysed"});
    ASSERT_EQ(analysed.exit_code, 0) << analysed.err;
  }
  const auto expected = files_of(scratch_ / "analysed");
  EXPECT_TRUE(expected.contains("tables/floating_by_head.csv"));
  EXPECT_GT(expected.size(), 60u);
  expect_same(results_of(scratch_ / "watched"), expected);
}

TEST_P(WatchPair, ItsFolderIsATraceThatKeepsLess) {
  const auto watched = run("watch", "watched", {});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  const auto expected = results_of(scratch_ / "watched");
  const std::string trace =
      pair_folder(GetParam()).filename().string() + "=" + (scratch_ / "watched").string();
  for (const auto& kind : analysis::analysis_kinds()) {
    if (kind.on_request) continue;
    const auto analysed =
        run_buoy({"analyze", std::string(kind.producer.name), trace, "--out", scratch_ / "analysed"});
    ASSERT_EQ(analysed.exit_code, 0) << analysed.err;
  }
  expect_same(files_of(scratch_ / "analysed"), expected);

  const auto inspected = run_buoy({"inspect", scratch_ / "watched"});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_TRUE(
      holds_in_order(inspected.out, {"complete", "keeps", "tables: what floating, drift", "state_drift"}));
  const auto reported = run_buoy({"report", scratch_ / "watched", "--out", scratch_ / "report"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_TRUE(holds_in_order(reported.out, {"report.html: 8 analyses"}));
  for (const auto& [name, bytes] : results_of(scratch_ / "report")) {
    if (name.ends_with(".csv") && expected.contains(name)) {
      EXPECT_TRUE(bytes == expected.at(name)) << name;
    }
  }
  const auto other = run_buoy({"analyze", "floating", trace, "--epsilon", "2", "--out", scratch_ / "other"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(holds_in_order(other.err, {"--epsilon", "3", "2", "full"}));

  // Nothing is left to do, or something: the same files.
  const auto again = run("watch", "watched", {"--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  expect_same(results_of(scratch_ / "watched"), expected);
  const auto sample = fs::directory_iterator(scratch_ / "watched/samples")->path();
  const auto whole = read_file(sample);
  fs::resize_file(sample, whole.size() / 2);
  const auto mended = run("watch", "watched", {"--resume"});
  EXPECT_EQ(mended.exit_code, 0) << mended.err;
  EXPECT_EQ(read_file(sample), whole);
  expect_same(results_of(scratch_ / "watched"), expected);
  const auto fuller = run("watch", "watched", {"--resume", "--keep", "full"});
  EXPECT_EQ(fuller.exit_code, 3);
  EXPECT_TRUE(
      holds_in_order(fuller.err, {"manifest.json: --keep (level)", "tables as in the trace", "full"}));
  const auto fewer = run("watch", "watched", {"--resume", "--limit", "2"});
  EXPECT_EQ(fewer.exit_code, 3);
  EXPECT_TRUE(holds_in_order(fewer.err, {"manifest.json: --data or --limit (planned)", "as in the trace"}));
  const auto changed = run("watch", "watched", {"--resume", "--passages", "2"});
  EXPECT_EQ(changed.exit_code, 3);
  EXPECT_TRUE(holds_in_order(changed.err, {"manifest.json: --passages", "-1 as in the trace", "2"}));
  const std::string asked = read_file(data());
  write_file_atomically(data(), std::regex_replace(asked, std::regex("Who"), "Which person"));
  const auto other_data = run("watch", "watched", {"--resume"});
  EXPECT_EQ(other_data.exit_code, 3);
  EXPECT_TRUE(holds_in_order(other_data.err, {"--data, --prompt or --template (probe.prompts_sha256)"}));
  write_file_atomically(data(), asked);

  // What a run that was killed left of its own files goes; files of others stay.
  const auto left = scratch_ / "watched/figures/floating_by_layer.svg.partial.77";
  const auto others = scratch_ / "watched/figures/mine.svg.partial.77";
  for (const auto& file : {left, others}) write_file_atomically(file, "<svg");
  EXPECT_EQ(run("watch", "watched", {"--resume"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(others));
}

TEST_P(WatchPair, KeepsAsMuchAsItIsTold) {
  for (const char* level : {"compact", "full"}) {
    const auto watched = run("watch", level, {"--keep", level, "--analyze", "floating"});
    ASSERT_EQ(watched.exit_code, 0) << watched.err;
    EXPECT_TRUE(holds_in_order(watched.err, {"3 samples, about", "up to 4.00 MiB of tables and figures"}));
  }
  expect_same(results_of(scratch_ / "full"), results_of(scratch_ / "compact"));
  EXPECT_GT(read_file(fs::directory_iterator(scratch_ / "full/samples")->path()).find("received"), 0u);
}

TEST_P(WatchPair, WhatNoPromptAllowsIsLeftOut) {
  const auto watched =
      run_buoy({"watch", "--model", pair_folder(GetParam()).string(), "--prompt",
                "Who employs Klados Hebwick?", "--max-new-tokens", "4", "--out", scratch_ / "out"});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_TRUE(holds_in_order(watched.err, {"note: retrieval is left out: ", "evidence"}));
  EXPECT_FALSE(fs::exists(scratch_ / "out/tables/retrieval_by_head.csv"));
  EXPECT_TRUE(fs::exists(scratch_ / "out/tables/floating_by_head.csv"));
}

TEST_P(WatchPair, SomeAnalysesOfSomeQuestionsWithTheirSettings) {
  const std::vector<std::string> settings = {"--epsilon", "2", "--sample",    "1",
                                             "--layer",   "2", "--resamples", "50"};
  std::vector<std::string> options = {"--analyze", "floating,drift", "--limit", "2", "--layers", "1-3"};
  options.insert(options.end(), settings.begin(), settings.end());
  const auto watched = run("watch", "watched", options);
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_EQ(watched.err.find(" s in all"), std::string::npos) << "only with --timing";

  const auto traced = run("trace", "trace", {"--groups", "regions", "--limit", "2", "--layers", "1-3"});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  const std::string trace = pair_folder(GetParam()).filename().string() + "=" + (scratch_ / "trace").string();
  for (const char* name : {"floating", "drift"}) {
    std::vector<std::string> call = {"analyze", name, trace, "--out", scratch_ / "analysed"};
    call.insert(call.end(), settings.begin(), settings.end());
    const auto analysed = run_buoy(call);
    ASSERT_EQ(analysed.exit_code, 0) << analysed.err;
  }
  expect_same(results_of(scratch_ / "watched"), files_of(scratch_ / "analysed"));

  // What it was kept with need not be said again; what is said must be that.
  const auto inspected = run_buoy({"inspect", scratch_ / "watched"});
  EXPECT_TRUE(holds_in_order(inspected.out, {"kept with", "epsilon 2, layer 2, sample 1"}));
  const std::string kept =
      pair_folder(GetParam()).filename().string() + "=" + (scratch_ / "watched").string();
  for (const char* name : {"floating", "drift"}) {
    const auto again =
        run_buoy({"analyze", name, kept, "--resamples", "50", "--out", scratch_ / "from-states"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
  }
  expect_same(files_of(scratch_ / "from-states"), files_of(scratch_ / "analysed"));
  const auto other = run_buoy({"analyze", "drift", kept, "--layer", "1"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(holds_in_order(other.err, {"--layer", "2", "1", "full"}));
}

TEST_P(WatchPair, RefusesBeforeAnyWork) {
  const auto expect = [&](const testing::ProgramResult& result, int code,
                          std::initializer_list<std::string> said) {
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_TRUE(holds_in_order(result.err, said));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(scratch_ / "out"));
  };
  expect(run("watch", "out", {"--analyze", "floating,drfit"}), 2, {"one of floating, drift", "\"drfit\""});
  expect(run("watch", "out", {"--analyze", ""}), 2, {"one of floating", "\"\""});
  expect(run("watch", "out", {"--sample", "3"}), 2, {"--sample", "below 3", "3"});
  expect(run("watch", "out", {"--layers", "3-1"}), 2, {"--layers"});
  expect(run("watch", "out", {"--compact-samples", "2"}), 2,
         {"--compact-samples", "--keep compact", "tables"});
  expect(run("trace", "out", {"--predicted-tokens", "2"}), 2, {"--predicted-tokens", "predictions observed"});
  expect(run("watch", "out", {"--predicted-tokens", "2"}), 2, {"--predicted-tokens", "predictions observed"});
  expect(run("trace", "out", {"--observe", "predictions", "--predicted-tokens", "0"}), 2,
         {"--predicted-tokens"});
  expect(run("trace", "out", {"--compact-samples", "2"}), 2, {"--compact-samples", "--keep compact", "full"});
  expect(run("watch", "q.jsonl", {}), 2, {"--out", "a folder", "q.jsonl"});
  const std::string model = pair_folder(GetParam()).string();
  expect(run_buoy({"watch", "--model", model, "--data", data()}), 2, {"--out"});
  expect(run_buoy({"watch", "--model", model, "--out", scratch_ / "out"}), 2, {"an empty prompt"});
  expect(run_buoy({"watch", "--model", model, "--data", scratch_ / "none.jsonl", "--out", scratch_ / "out"}),
         3, {"none.jsonl"});
  expect(run_buoy({"watch", "--model", model, "--data", scratch_.write("empty.jsonl", "").string(), "--out",
                   scratch_ / "out"}),
         3, {"empty.jsonl"});
}

TEST_P(WatchPair, OnePromptIsEnough) {
  const auto watched = run_buoy({"watch", "--model", pair_folder(GetParam()).string(), "--prompt",
                                 "Who employs Klados Hebwick?", "--max-new-tokens", "4", "--analyze",
                                 "qk,floating,qk", "--out", scratch_ / "out"});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  size_t tables = 0;  // each has a .csv and a .json
  for (const auto& [name, bytes] : files_of(scratch_ / "out")) tables += name.ends_with(".csv");
  EXPECT_TRUE(holds_in_order(watched.out, {fmt::format(": {} tables, ", tables)}))
      << "named twice, made once";
  EXPECT_TRUE(fs::exists(scratch_ / "out/tables/qk_by_layer.csv"));
}

// A model with three tokens of its own kind: they stop it in three places.
constexpr char kNoEmbedding = '~';  // no finite queries of the first layer: nothing is observed
constexpr char kBursts = '`';       // none of the second: records of the first are on their way
constexpr char kNoNumbers = '^';    // it runs, but a record of the first holds infinities

class Weights {
 public:
  explicit Weights(const fs::path& folder) : file_(folder / "model.safetensors"), bytes_(read_file(file_)) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    header_ = Json::parse(bytes_.substr(8, length));
    data_ = 8 + length;
  }
  ~Weights() { write_file_atomically(file_, bytes_); }

  using Change = std::function<float(size_t row, size_t column, float was)>;
  void change(const std::string& name, const Change& change) {
    const Json& tensor = header_.at(name);
    const auto rows = tensor.at("shape")[0].get<size_t>(), columns = tensor.at("shape")[1].get<size_t>();
    char* at = bytes_.data() + data_ + tensor.at("data_offsets")[0].get<size_t>();
    for (size_t i = 0; i < rows * columns; ++i, at += 2) {  // bf16: the upper half of a float
      float value = 0;
      std::memcpy(reinterpret_cast<char*>(&value) + 2, at, 2);
      value = change(i / columns, i % columns, value);
      std::memcpy(at, reinterpret_cast<char*>(&value) + 2, 2);
    }
  }

 private:
  fs::path file_;
  std::string bytes_;
  Json header_;
  size_t data_ = 0;
};

// Two directions belong to one token each; what it does not like lies in the columns of that direction.
void spoil(const fs::path& folder) {
  Weights weights(folder);
  weights.change("model.transformer.wte.weight", [](size_t row, size_t column, float was) {
    if (column == 0) return row == kNoNumbers ? 1.0f : 0.0f;
    if (column == 1) return row == kBursts ? 1.0f : 0.0f;
    return row == kNoEmbedding ? std::nanf("") : was;
  });
  const std::string first = "model.transformer.blocks.0.";
  const auto huge = [](size_t odd) {  // of queries and keys at right angles
    return [=](size_t row, size_t column, float was) {
      return column != 0 ? was : row % 2 == odd ? 1e24f : 0.0f;
    };
  };
  weights.change(first + "q_proj.weight", huge(0));
  weights.change(first + "k_proj.weight", huge(1));
  weights.change(first + "v_proj.weight",
                 [](size_t, size_t column, float was) { return column == 1 ? 3e38f : was; });
}

class WatchFailing : public ::testing::Test {
 protected:
  WatchFailing() {
    testing::write_talking_model(model(), true);
    spoil(model());
  }

  fs::path model() const { return scratch_ / "model"; }

  static std::string line(const std::string& id, const std::string& prompt) {
    return Json{{"id", id}, {"prompt", prompt}}.dump() + "\n";
  }

  testing::ProgramResult watch(const std::string& out, const std::string& lines,
                               const std::vector<std::string>& more = {}) {
    std::vector<std::string> call = {"watch",
                                     "--model",
                                     model(),
                                     "--data",
                                     scratch_.write(out + ".jsonl", lines),
                                     "--max-new-tokens",
                                     "4",
                                     "--analyze",
                                     "floating,drift,absorption,qk",
                                     "--resamples",
                                     "50",
                                     "--out",
                                     scratch_ / out};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  TempFolder scratch_;
  const std::string first_ = line("first", "Once upon a time"), last_ = line("last", "Who is there?");
};

TEST_F(WatchFailing, WhatFailsIsListedInItsOrderAndTheOthersCount) {
  const auto good = watch("good", first_ + last_);
  ASSERT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.err.find("failed"), std::string::npos) << good.err;
  for (const char* threads : {"1", "2", "8"}) {
    const std::string out = std::string("some") + threads;
    const auto some = watch(out,
                            line("infinite", "What is ^?") + first_ + line("burst", "What is `?") +
                                line("empty", "") + last_ + line("nan", "What is ~?"),
                            {"--threads", threads});
    ASSERT_EQ(some.exit_code, 0) << some.err;
    EXPECT_TRUE(holds_in_order(
        some.err, {"sample infinite failed: ", "norm_product", "inf", "sample burst failed: ", "layer 1",
                   "sample empty failed: ", "an empty prompt", "sample nan failed: ", "layer 0"}));
    expect_same(results_of(scratch_ / out), results_of(scratch_ / "good"));
  }
}

TEST_F(WatchFailing, NoSampleAtAllIsAnError) {
  int number = 0;
  for (const char* prompt : {"What is ^?", "What is `?", "What is ~?", ""}) {
    const std::string out = "none" + std::to_string(number++);
    const auto all = watch(out, line("a", prompt) + line("b", prompt));
    EXPECT_EQ(all.exit_code, 3) << all.err;
    EXPECT_TRUE(holds_in_order(all.err, {"every sample failed, the first with: "}));
    EXPECT_FALSE(fs::exists(scratch_ / out / "tables"));
  }
}

}  // namespace
}  // namespace buoy
