// `buoy compact`, and a report from traces that keep less: the same figures, and an explorer within a step.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <map>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/quantised_row.h"
#include "support/base64.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

using Json = nlohmann::json;

// What a page carries for its section "Explore": one object for each sample of each trace.
std::vector<Json> explored(const std::string& page) {
  const std::string begin = "<script type=\"application/json\">", end = "</script>";
  std::vector<Json> out;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const size_t from = at + begin.size();
    out.push_back(Json::parse(page.substr(from, page.find(end, from) - from)));
  }
  return out;
}

std::vector<double> rows(const Json& sample, const std::string& name) {
  const auto codes = from_base64(sample.at(name + "Codes").get<std::string>());
  const auto scales = from_base64(sample.at(name + "Scales").get<std::string>());
  const auto tokens = sample.at("tokens").get<size_t>();
  std::vector<double> values(codes.size());
  for (size_t row = 0; row * tokens < codes.size(); ++row) {
    RowScale scale;
    std::memcpy(&scale.low, scales.data() + 8 * row, 4);
    std::memcpy(&scale.high, scales.data() + 8 * row + 4, 4);
    read_quantised_row(scale, std::span(codes).subspan(row * tokens, tokens),
                       std::span(values).subspan(row * tokens, tokens));
  }
  return values;
}

using Files = std::map<std::string, std::string>;
Files files_of(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  }
  return files;
}

void expect_same(const Files& found, const Files& expected) {
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [name, bytes] : expected)
    EXPECT_TRUE(found.contains(name) && found.at(name) == bytes) << name;
}

class CompactReports : public ::testing::Test {
 protected:
  // Reports of both models, from traces that keep this.
  std::string report(const std::string& name, const std::string& diffusion, const std::string& causal) {
    const auto made = run_buoy(
        {"report", "d=" + path(diffusion), "a=" + path(causal), "--resamples", "50", "--out", path(name)});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return read_file(folder_ / name / "report.html");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TempFolder folder_;
};

TEST_F(CompactReports, HaveTheFiguresOfTheFullTraceAndAnExplorerWithinAStep) {
  const std::vector<std::string> observe = {"--observe", "all", "--groups", "regions"};
  trace_pair(folder_ / "d", {true, 5, 3, observe});
  trace_pair(folder_ / "a", {false, 5, 3, observe});
  for (const std::string name : {"d", "a"}) {
    for (const std::string level : {"compact", "tables"}) {
      const auto made = run_buoy({"compact", path(name), "--keep", level, "--out", path(name + level)});
      ASSERT_EQ(made.exit_code, 0) << made.err;
      EXPECT_NE(made.err.find("in all as " + level), std::string::npos) << made.err;
      EXPECT_NE(made.out.find("5 samples"), std::string::npos) << made.out;
    }
  }
  const auto full = explored(report("full", "d", "a"));
  const auto compact = explored(report("compact", "dcompact", "acompact"));
  const auto tables = report("tables", "dtables", "atables");
  const auto figures = files_of(folder_ / "full/figures");
  EXPECT_GT(figures.size(), 20u);
  for (const char* other : {"compact", "tables"}) {
    SCOPED_TRACE(other);
    expect_same(files_of(folder_ / other / "figures"), figures);
    expect_same(files_of(folder_ / other / "tables"), files_of(folder_ / "full/tables"));
  }
  EXPECT_TRUE(explored(tables).empty());
  EXPECT_TRUE(holds_in_order(tables, {"nothing to explore", "expected compact or full", "found tables"}));

  ASSERT_EQ(full.size(), 10u) << "five samples of each trace";
  ASSERT_EQ(compact.size(), full.size());
  for (size_t s = 0; s < full.size(); ++s) {
    for (const char* same : {"sample", "steps", "layers", "headSteps", "headLayers", "texts", "maskedSteps"})
      EXPECT_EQ(compact[s].at(same), full[s].at(same)) << same;
    EXPECT_EQ(full[s].at("headSteps").empty(), s % 5 == 4) << "four with heads, others with their means";
    for (const char* name : {"mean", "head"}) {
      const auto expected = rows(full[s], name), found = rows(compact[s], name);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], 2 * kMostQuantisedError * expected[i]) << name << i;
    }
  }
}

TEST_F(CompactReports, WhatCannotBeKeptAsLessIsRefusedWithNames) {
  trace_pair(folder_ / "t", {true, 1, 1, {"--observe", "entropy"}});
  const auto none = run_buoy({"compact", path("t"), "--out", path("c")});
  EXPECT_EQ(none.exit_code, 3);
  const auto missing = run_buoy({"compact", path("nothing"), "--out", path("c")});
  EXPECT_EQ(missing.exit_code, 3) << missing.err;
  EXPECT_NE(missing.err.find("nothing"), std::string::npos) << missing.err;
  const auto full = run_buoy({"compact", path("t"), "--keep", "full", "--out", path("c")});
  EXPECT_EQ(full.exit_code, 2) << full.err;
  EXPECT_TRUE(holds_in_order(full.err, {"--keep", "tables or compact", "full"}));
  const auto idle =
      run_buoy({"compact", path("t"), "--keep", "tables", "--compact-samples", "2", "--out", path("c")});
  EXPECT_EQ(idle.exit_code, 2);
  EXPECT_TRUE(holds_in_order(idle.err, {"--compact-samples", "--keep compact", "--keep tables"}));
  EXPECT_FALSE(path_exists(folder_ / "c"));
}

// Who deletes the full trace afterwards must know what is gone with it.
TEST_F(CompactReports, AnalysesThatAreNotKeptAreNamed) {
  trace_pair(folder_ / "t", {true, 1, 1, {"--observe", "received"}});
  const auto made = run_buoy({"compact", path("t"), "--out", path("c")});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(holds_in_order(made.err, {"qk is left out: it needs --observe received,qk,norms",
                                        "flow is left out: it needs --observe mass"}))
      << made.err;
}

}  // namespace
}  // namespace buoy::testing
