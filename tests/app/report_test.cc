// `buoy report` on whatever a trace may lack: the page is written, and says what is left out and why.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

class ReportPage : public ::testing::Test {
 protected:
  // The page of these traces; the call must succeed.
  std::string page_of(std::vector<std::string> traces, const std::vector<std::string>& more = {}) {
    made_ = report(std::move(traces), more);
    EXPECT_EQ(made_.exit_code, 0) << made_.err;
    return read_file(folder_ / "r/report.html");
  }

  ProgramResult report(std::vector<std::string> traces, const std::vector<std::string>& more = {}) {
    std::vector<std::string> call = {"report", "--out", folder_ / "r", "--replicates", "20"};
    call.insert(call.end(), more.begin(), more.end());
    call.insert(call.end(), traces.begin(), traces.end());
    return run_buoy(call);
  }

  // Traces of a tiny random model; `spoil` changes its checkpoint first.
  void trace_tiny(const std::string& name, Family family, const std::function<void(TinyCheckpoint&)>& spoil,
                  const std::vector<std::string>& more) {
    TinyCheckpoint checkpoint(family);
    spoil(checkpoint);
    fs::create_directories(folder_ / (name + ".model"));
    checkpoint.write(folder_ / (name + ".model"));
    std::vector<std::string> call = {"trace", "--model", folder_ / (name + ".model"), "--out",
                                     folder_ / name};
    call.insert(call.end(), more.begin(), more.end());
    const auto traced = run_buoy(call);
    ASSERT_EQ(traced.exit_code, 0) << traced.err;
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  // The caption of the figure whose files have this name, as the page has it.
  static std::string caption_of(const std::string& page, const std::string& figure) {
    const auto at = page.find("figures/" + figure + ".pdf");
    const auto begin = page.rfind("<figcaption>", at);
    return at == std::string::npos ? "no figure " + figure : page.substr(begin, at - begin);
  }

  TempFolder folder_;
  ProgramResult made_;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Queries that point nowhere: every key gets the same weight.
void make_even(TinyCheckpoint& checkpoint) {
  for (auto& tensor : checkpoint.tensors) {
    if (holds(tensor.name, "q_proj")) std::fill(tensor.bytes.begin(), tensor.bytes.end(), '\0');
  }
}

void one_head(TinyCheckpoint& checkpoint) {
  checkpoint.config["n_layers"] = 1;
  checkpoint.config["n_heads"] = 1;
  std::erase_if(checkpoint.tensors, [](const auto& tensor) { return holds(tensor.name, "blocks.1."); });
}

TEST_F(ReportPage, OfACausalTraceWithEveryObservable) {
  trace_pair(
      path("a"),
      {false, 2, 2, {"--observe", "all,states,dense,dense-mean", "--layers", "0,5", "--groups", "regions"}});
  const std::string page = page_of({path("a")});
  EXPECT_TRUE(fs::exists(folder_ / "r/figures/qk_maps_planted-autoregressive.svg")) << made_.err;
  EXPECT_TRUE(holds(page, "id=\"qk\"") && holds(page, "id=\"flow\""));
  EXPECT_FALSE(holds(page, "class=\"left-out\"")) << made_.err;
}

TEST_F(ReportPage, OfDiffusionTracesInWhichNothingFloats) {
  trace_tiny("even", Family::kLlada, make_even,
             {"--ids", "5,6,7,8,9,10,11,12", "--max-new-tokens", "8", "--observe", "all"});
  const std::string page = page_of({path("even")});
  EXPECT_TRUE(holds(page, "<h2 id=\"drift\">")) << made_.err;
  EXPECT_TRUE(holds(page, "Figure drift_by_layer is left out: ") ||
              holds(page, "Part of figure drift_by_layer"));
  EXPECT_TRUE(holds(made_.err, "drift_by_layer")) << made_.err;
  EXPECT_TRUE(fs::exists(folder_ / "r/figures/drift_map_even_model.svg"));
}

TEST_F(ReportPage, OfTheSmallestTraces) {
  trace_tiny("d", Family::kLlada, one_head,
             {"--ids", "5", "--max-new-tokens", "1", "--steps", "1", "--observe", "all,states,dense"});
  trace_tiny("n", Family::kLlada, one_head,
             {"--ids", "5", "--max-new-tokens", "1", "--steps", "1", "--observe", "all", "--no-final"});
  trace_tiny("a", Family::kLlama, [](TinyCheckpoint&) {},
             {"--ids", "5", "--max-new-tokens", "1", "--observe", "all,states,dense"});
  for (const char* name : {"d", "n", "a"}) {
    const std::string page = page_of({path(name)});
    EXPECT_TRUE(holds(page, "<h2 id=\"floating\">")) << name << ": " << made_.err;
    EXPECT_FALSE(holds(page, "a bug in Buoy")) << made_.err;
  }
  const std::string page = page_of({"d=" + path("d"), "n=" + path("n"), "a=" + path("a")});
  EXPECT_FALSE(holds(page, "a bug in Buoy")) << made_.err;
}

TEST_F(ReportPage, WithoutTheSamplesThatFailed) {
  trace_pair(path("d"), {true, 3, 2, {"--observe", "received"}});
  Json manifest = Json::parse(read_file(path("d") + "/manifest.json"));
  const std::string id = manifest["samples"][1]["id"];
  manifest["samples"][1] = {{"id", id}, {"status", "failed"}, {"error", "out of <memory>"}};
  std::ofstream(path("d") + "/manifest.json") << manifest.dump();
  const std::string page = page_of({"d=" + path("d")}, {"--trust"});  // the manifest was changed by hand
  EXPECT_TRUE(
      holds(page, "d: 1 sample failed while it was traced and is not part of this report (" + id + ")."))
      << made_.err;
  EXPECT_TRUE(holds(made_.err, "out of <memory>")) << made_.err;
}

TEST_F(ReportPage, WithoutATraceThatCannotBeRead) {
  trace_pair(path("good"), {true, 2, 2, {"--observe", "received"}});
  for (const std::string how : {"gone", "cut", "manifest"}) {
    SCOPED_TRACE(how);
    fs::remove_all(path("bad"));
    fs::copy(path("good"), path("bad"), fs::copy_options::recursive);
    const Json manifest = Json::parse(read_file(path("bad") + "/manifest.json"));
    const std::string sample = path("bad") + "/" + manifest["samples"][1]["file"].get<std::string>();
    if (how == "gone") fs::remove(sample);
    if (how == "cut") fs::resize_file(sample, 1000);
    if (how == "manifest") std::ofstream(path("bad") + "/manifest.json") << "{\"format\": ";
    const std::string page = page_of({"good=" + path("good"), "bad=" + path("bad")});
    EXPECT_TRUE(holds(page, "id=\"absorption\""));
    for (const std::string& text : {page, made_.err}) {
      const auto at =
          text.find(how == "manifest" ? "bad: this trace is left out: " : "are left out for bad: ");
      EXPECT_NE(at, std::string::npos) << made_.err;
    }
    const std::string csv = read_file(folder_ / "r/tables/absorption_published.csv");
    EXPECT_TRUE(holds(csv, "good,0,"));
    EXPECT_FALSE(holds(csv, "bad,0,"));
    EXPECT_FALSE(holds(read_file(folder_ / "r/tables/claims.csv"), "bad")) << "it has no say in the verdicts";
    // Alone it can give nothing: the page says why, and so does the exit code.
    const auto alone = report({"bad=" + path("bad")});
    EXPECT_EQ(alone.exit_code, 3) << alone.err;
    EXPECT_TRUE(holds(read_file(folder_ / "r/report.html"), "left out")) << alone.err;
  }
  EXPECT_EQ(report({"good=" + path("good"), "typo=" + path("nothing")}).exit_code, 3)
      << "what is not there is refused before any work";
}

TEST_F(ReportPage, CaptionsNameTheHeadAndTheSample) {
  trace_pair(path("d"), {true, 2, 2, {"--observe", "received,qk,norms"}});
  const Json manifest = Json::parse(read_file(path("d") + "/manifest.json"));
  const std::string second = manifest["samples"][1]["id"];
  const std::string page = page_of({"d=" + path("d")}, {"--head", "2", "--sample", "1", "--layer", "3"});
  for (const char* figure : {"drift_map_d", "drift_text_d", "qk_columns_d"}) {
    const std::string caption = caption_of(page, figure);
    EXPECT_TRUE(holds(caption, "head 2")) << caption;
    EXPECT_TRUE(holds(caption, "sample " + second)) << caption;
    EXPECT_FALSE(holds(caption, "heads averaged")) << caption;
  }
  EXPECT_TRUE(holds(caption_of(page_of({"d=" + path("d")}), "drift_map_d"), "heads averaged"));
}

TEST_F(ReportPage, RefusesWhatMapsCannotShowBeforeAnyWork) {
  trace_pair(path("d"), {true, 1, 1, {"--observe", "received"}});
  for (const std::string option : {"--head", "--layer", "--sample"}) {
    const auto made = report({path("d")}, {option, "99"});
    EXPECT_EQ(made.exit_code, 2) << made.err;
    EXPECT_TRUE(holds(made.err, option) && holds(made.err, "99")) << made.err;
    EXPECT_FALSE(fs::exists(folder_ / "r"));
  }
  // A trace that lacks the head is left out of maps; the one that has it is drawn.
  trace_tiny("t", Family::kLlada, one_head,
             {"--ids", "5,6,7", "--max-new-tokens", "2", "--observe", "received"});
  const std::string page = page_of({"d=" + path("d"), "t=" + path("t")}, {"--head", "3"});
  EXPECT_TRUE(holds(page, "left out for t: ")) << made_.err;
  EXPECT_TRUE(holds(caption_of(page, "drift_map_d"), "head 3"));
}

TEST_F(ReportPage, NamesMayHoldAnEqualsSign) {
  trace_pair(path("x=y"), {true, 1, 1, {"--observe", "received"}});
  const std::string page = page_of({"a=b=" + path("x=y")}, {"--title", "A = B"});
  EXPECT_TRUE(holds(page, "<h1>A = B</h1>"));
  EXPECT_TRUE(holds(read_file(folder_ / "r/tables/absorption_published.csv"), "a=b,0,")) << made_.err;
  page_of({"c=" + path("x=y"), path("x=y")});
  EXPECT_TRUE(holds(read_file(folder_ / "r/tables/absorption_published.csv"), "c,0,")) << made_.err;
}

TEST_F(ReportPage, OfAStudyHasItsTitleAndItsNames) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const std::string study = "title = \"Sinks & floats\"\n[models]\n\"m=1\" = \"" +
                            pair_folder(true).string() +
                            "\"\n[decoding]\nmax_new_tokens = 2\n[prompt]\nwith_passages = \"" +
                            (pair_folder(true).parent_path() / "planted.prompt").string() +
                            "\"\n[[data]]\nname = \"q\"\nworld = { passages = 1, count = 2 }\n"
                            "[[trace]]\nname = \"t=2\"\ndata = \"q\"\nobserve = \"received\"\n"
                            "[[evaluate]]\nname = \"a=b\"\ndata = \"q\"\npassages = 1\n"
                            "[report]\nanalyses = [\"absorption\", \"tasks\"]\n";
  const auto made = run_buoy({"study", folder_.write("s.toml", study), "--out", path("out")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string page = read_file(folder_ / "out/report/report.html");
  EXPECT_TRUE(holds(page, "<title>Sinks &amp; floats</title>"));
  EXPECT_TRUE(holds(page, "<h1>Sinks &amp; floats</h1>"));
  EXPECT_TRUE(holds(read_file(folder_ / "out/report/tables/absorption_published.csv"), "m=1,0,"));
  EXPECT_TRUE(holds(read_file(folder_ / "out/report/tables/eval_scores.csv"), "a=b,")) << made.err;
}

TEST_F(ReportPage, OfRunsWithoutTheOneThatCannotBeRead) {
  const auto world = run_buoy({"world", "--count", "2", "--passages", "1", "--out", path("q.jsonl")});
  ASSERT_EQ(world.exit_code, 0) << world.err;
  for (const char* name : {"good", "bad"}) {
    const auto asked = run_buoy({"eval", "--model", pair_folder(true), "--data", path("q.jsonl"),
                                 "--max-new-tokens", "2", "--out", path(name)});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
  }
  std::ofstream(path("bad") + "/run.json") << "{";
  std::ofstream(path("bad") + "/answers.jsonl") << "{\"no\": 1}\n";
  const std::string page = page_of({}, {"--eval", path("good"), "--eval", path("bad")});
  EXPECT_TRUE(holds(page, "bad: this run is left out: ")) << made_.err;
  EXPECT_TRUE(holds(read_file(folder_ / "r/tables/eval_scores.csv"), "good,"));
  const auto twice = report({}, {"--eval", path("good"), "--eval", path("good")});
  EXPECT_EQ(twice.exit_code, 2) << "two runs of one name would be mixed: " << twice.err;
}

}  // namespace
}  // namespace buoy::testing
