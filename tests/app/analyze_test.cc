// `buoy trace --data`, `buoy analyze` and `buoy report` on the bundled trained pair.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::run_buoy;
using testing::TempFolder;

TEST(TraceData, EveryTokenKnowsItsRegionAndTheEvidenceIsTheAnswer) {
  const TempFolder scratch;
  testing::trace_pair(
      scratch / "t",
      {true, 2, 3, {"--observe", "mass,row-mass,top", "--groups", "regions", "--device", "cpu"}});
  const auto reader = trace::TraceReader::open(scratch / "t");
  for (const auto& entry : reader.samples()) {
    const auto sample = reader.read(entry.id);
    const auto names = sample.text_list(trace::kRegionNames);
    const auto regions = sample.integers(trace::kRegionOfToken);
    std::map<std::string, int> tokens;
    for (const auto region : regions) ++tokens[names.at(static_cast<size_t>(region))];
    EXPECT_EQ(tokens["bos"], 1);
    EXPECT_EQ(tokens["answer"] + tokens["padding"], 8);
    for (const char* name :
         {"answer", "padding", "template", "query", "document 1", "document 2", "document 3"}) {
      EXPECT_GT(tokens[name], 0) << name;
    }
    const auto gold = sample.text_list(trace::kGoldRegions);
    ASSERT_EQ(gold.size(), 1u);
    const auto evidence = sample.integers(trace::kEvidence);
    const auto texts = sample.text_list(trace::kTokenTexts);
    std::string found;
    for (size_t i = 0; i < evidence.size(); ++i) {
      if (evidence[i] == 0) continue;
      EXPECT_EQ(names[static_cast<size_t>(regions[i])], gold[0]);
      found += texts[i];
    }
    EXPECT_NE(found.find(sample.text_list(trace::kAnswers).at(0)), std::string::npos) << found;
    EXPECT_NE(sample.text(trace::kAnswerText).find(sample.text_list(trace::kAnswers).at(0)),
              std::string::npos)
        << "the trained model reads its passages";
    // Groups are the regions; each query gives away one.
    const auto shape = sample.shape(trace::kMass);  // [S, L, G, H, C]
    const auto sizes = sample.integers(trace::kGroupSizes);
    const auto mass = sample.floats(trace::kMass);
    const auto regions_count = static_cast<size_t>(shape[4]);
    for (size_t at = 0; at < mass.size(); at += regions_count) {
      const size_t group = at / regions_count / static_cast<size_t>(shape[3]) % static_cast<size_t>(shape[2]);
      const size_t step = at / regions_count / static_cast<size_t>(shape[3] * shape[2] * shape[1]);
      double sum = 0;
      for (size_t c = 0; c < regions_count; ++c) sum += mass[at + c];
      ASSERT_NEAR(sum, sizes[step * static_cast<size_t>(shape[2]) + group], 1e-4);
    }
  }
}

TEST(TraceData, TheLastForwardSeesTheFinalRow) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 1, {}});
  testing::trace_pair(scratch / "u", {true, 1, 1, {"--no-final"}});
  const auto reader = trace::TraceReader::open(scratch / "t");
  const auto sample = reader.read(reader.samples()[0].id);
  const auto rows = sample.integers(trace::kTokensByStep), last = sample.integers(trace::kTokens);
  EXPECT_EQ(sample.integer_text(trace::kFinalStep), 8);
  EXPECT_EQ(std::vector<std::int32_t>(rows.end() - static_cast<std::ptrdiff_t>(last.size()), rows.end()),
            last);
  const auto without = trace::TraceReader::open(scratch / "u");
  EXPECT_FALSE(without.read(without.samples()[0].id).has_text(trace::kFinalStep));
}

TEST(Report, HoldsEveryAnalysisVerdictsAndNothingFromTheNetwork) {
  const TempFolder scratch;
  const std::vector<std::string> observe = {"--observe", "all", "--groups", "regions"};
  testing::trace_pair(scratch / "d", {true, 3, 3, observe});
  testing::trace_pair(scratch / "a", {false, 3, 3, observe});
  const auto made = run_buoy({"report", "diffusion=" + (scratch / "d").string(), (scratch / "a").string(),
                              "--out", (scratch / "r").string(), "--replicates", "100"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string page = read_file(scratch / "r" / "report.html");
  for (const char* part : {"id=\"explore\"", "id=\"floating\"", "id=\"drift\"", "id=\"absorption\"",
                           "id=\"qk\"", "id=\"retrieval\"", "id=\"flow\"", "id=\"structure\"", "id=\"tasks\"",
                           "id=\"claims\"", "planted-autoregressive", "C10"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  for (const char* address : {"src=\"http", "href=\"http", "url(http", "@import"}) {
    EXPECT_EQ(page.find(address), std::string::npos) << address;
  }
  EXPECT_TRUE(fs::exists(scratch / "r" / "tables" / "drift_by_layer.csv"));
  const Json table = Json::parse(read_file(scratch / "r" / "tables" / "absorption_published.json"));
  EXPECT_EQ(table["rows"].size(), 12u) << "two models of six layers";
  EXPECT_EQ(table["rows"][0][0], "diffusion") << "the label that was given";
}

TEST(Report, SaysWhatATraceLacks) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {false, 1, 1, {"--observe", "entropy"}});
  const auto one = run_buoy({"analyze", "drift", (scratch / "t").string()});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_NE(one.err.find("received among --observe"), std::string::npos) << one.err;
  const auto all = run_buoy({"report", (scratch / "t").string(), "--out", (scratch / "r").string()});
  EXPECT_EQ(all.exit_code, 3) << "nothing can be said";
  EXPECT_NE(read_file(scratch / "r" / "report.html").find("received among <code>observe</code>"),
            std::string::npos)
      << "but the page says why";
}

TEST(Report, LeavesATraceOutOnlyOfWhatItLacksAndSaysSo) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "x", {true, 2, 3, {"--observe", "received,qk,norms"}});
  testing::trace_pair(scratch / "y", {true, 2, 3, {"--observe", "received"}});
  const auto made = run_buoy({"report", "y=" + (scratch / "y").string(), "x=" + (scratch / "x").string(),
                              "--out", (scratch / "r").string(), "--replicates", "20"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string note = "QK decomposition is left out for y: sample ";
  EXPECT_NE(made.err.find(note), std::string::npos) << made.err;
  const std::string page = read_file(scratch / "r" / "report.html");
  EXPECT_NE(page.find(note), std::string::npos);
  EXPECT_NE(page.find("qk among <code>observe</code>"), std::string::npos);
  EXPECT_NE(page.find("id=\"qk\""), std::string::npos);
  const Json table = Json::parse(read_file(scratch / "r" / "tables" / "qk_by_layer.json"));
  ASSERT_FALSE(table["rows"].empty());
  for (const auto& row : table["rows"]) EXPECT_EQ(row[0], "x");
  for (const char* trace : {"y", "x"})
    EXPECT_NE(made.err.find(std::string("Retrieval heads is left out for ") + trace), std::string::npos)
        << "what all lack: " << made.err;
}

TEST(Report, RemovesWhatAnEarlierReportWroteThereAndNothingElse) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 1, {"--observe", "received"}});
  const fs::path out = scratch / "r";
  const auto report = [&](const std::string& label) {
    const auto made = run_buoy(
        {"report", label + "=" + (scratch / "t").string(), "--out", out.string(), "--replicates", "20"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  };
  const auto drift = run_buoy(
      {"analyze", "drift", "c=" + (scratch / "t").string(), "--out", out.string(), "--replicates", "20"});
  ASSERT_EQ(drift.exit_code, 0) << drift.err;
  ASSERT_TRUE(fs::exists(out / "figures" / "drift_map_c.svg"));
  report("first");
  ASSERT_TRUE(fs::exists(out / "figures" / "drift_map_first.svg"));
  EXPECT_FALSE(fs::exists(out / "figures" / "drift_map_c.svg")) << "written by buoy analyze";
  write_file_atomically(out / "figures" / "drift_map_mine.svg", "mine");
  write_file_atomically(out / "tables" / "notes.csv", "mine");
  report("second");
  EXPECT_TRUE(fs::exists(out / "figures" / "drift_map_second.svg"));
  for (const char* ending : {".svg", ".pdf", ".png"})
    EXPECT_FALSE(fs::exists(out / "figures" / (std::string("drift_map_first") + ending))) << ending;
  EXPECT_TRUE(fs::exists(out / "figures" / "drift_map_mine.svg"));
  EXPECT_TRUE(fs::exists(out / "tables" / "notes.csv"));
}

TEST(Analyze, KeepsWhatOtherAnalysesWroteThere) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 1, {"--observe", "received"}});
  const fs::path out = scratch / "r";
  for (const auto& [name, label] :
       {std::pair{"absorption", "x"}, std::pair{"drift", "x"}, std::pair{"drift", "y"}}) {
    const auto made = run_buoy({"analyze", name, std::string(label) + "=" + (scratch / "t").string(), "--out",
                                out.string(), "--replicates", "20"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  EXPECT_TRUE(fs::exists(out / "tables" / "absorption_by_layer.csv"));
  EXPECT_TRUE(fs::exists(out / "figures" / "drift_map_y.svg"));
  EXPECT_FALSE(fs::exists(out / "figures" / "drift_map_x.svg"));
}

TEST(Analyze, SaysWhichGroupsOfQueriesFlowNeeds) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 2, {"--observe", "mass", "--groups", "parity"}});
  const auto flow = run_buoy({"analyze", "flow", (scratch / "t").string()});
  EXPECT_EQ(flow.exit_code, 3);
  EXPECT_NE(flow.err.find("even, odd; trace again with --groups regions"), std::string::npos) << flow.err;
  EXPECT_EQ(flow.err.find("this version of Buoy"), std::string::npos) << flow.err;
}

TEST(Analyze, ARuleOfAnotherEpsilonIsNamedByIt) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 1, {"--observe", "received"}});
  const auto made =
      run_buoy({"analyze", "floating", (scratch / "t").string(), "--epsilon", "2", "--share-factor", "2",
                "--out", (scratch / "r").string(), "--replicates", "20"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string table = read_file(scratch / "r" / "tables" / "floating_by_layer.csv");
  EXPECT_EQ(table.find("three_sigma"), std::string::npos);
  EXPECT_NE(table.find(",2_sigma,calibrated,"), std::string::npos);
  EXPECT_TRUE(fs::exists(scratch / "r" / "figures" / "floating_types.svg"));
}

TEST(Analyze, UnknownNamesAndSameLabelsAreRefused) {
  const TempFolder scratch;
  const auto unknown = run_buoy({"analyze", "drfit", scratch.path().string()});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("drift"), std::string::npos) << unknown.err;
  testing::trace_pair(scratch / "t", {false, 1, 1, {}});
  const auto twice =
      run_buoy({"analyze", "absorption", "x=" + (scratch / "t").string(), "x=" + (scratch / "t").string()});
  EXPECT_EQ(twice.exit_code, 2) << twice.err;
}

}  // namespace
}  // namespace buoy
