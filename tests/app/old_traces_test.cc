// Traces of 0.1.0 are read, inspected and analysed as the program that wrote them did
// (tests/data/trace/v0.1).

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/reader.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::run_buoy;
using testing::TempFolder;

fs::path old_traces() {
  return testing::data_folder() / "trace/v0.1";
}

std::vector<std::vector<std::string>> read_rows(const fs::path& file, char separator) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, separator);) row.push_back(cell);
  }
  return rows;
}

// Numbers to six digits: the last bits of sums depend on the machine.
bool same_cell(const std::string& found, const std::string& expected) {
  if (found == expected) return true;
  char* end = nullptr;
  const double number = std::strtod(expected.c_str(), &end);
  if (expected.empty() || *end != '\0') return false;
  const double other = std::strtod(found.c_str(), &end);
  return !found.empty() && *end == '\0' && std::abs(other - number) <= 1e-6 * std::abs(number) + 1e-12;
}

TEST(OldTraces, EveryArrayIsReadAsItWasWritten) {
  auto rows = read_rows(old_traces() / "expected/arrays.tsv", '\t');
  rows.erase(rows.begin());
  ASSERT_GT(rows.size(), 100u);
  std::map<std::string, std::set<std::string>> listed;  // by sample
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 6u);
    listed[row[0] + "/" + row[1]].insert(row[2]);
    const auto sample = trace::TraceReader::open(old_traces() / row[0]).read(row[1]);
    const std::string where = row[0] + "/" + row[1] + ": " + row[2];
    ASSERT_TRUE(sample.has(row[2])) << where;
    EXPECT_EQ(sample.dtype(row[2]), row[3]) << where;
    std::string shape;
    for (const auto size : sample.shape(row[2])) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    EXPECT_EQ(shape, row[4]) << where;
    double sum = 0;
    if (row[3].starts_with("F")) {
      for (const float value : sample.floats(row[2])) sum += value;
    } else {
      for (const auto value : sample.integers(row[2])) sum += value;
    }
    EXPECT_NEAR(sum, std::stod(row[5]), 1e-6 * (1 + std::abs(sum))) << where;
  }
  size_t samples = 0;
  for (const auto& entry : fs::directory_iterator(old_traces())) {
    if (!fs::exists(entry.path() / "manifest.json")) continue;
    const auto reader = trace::TraceReader::open(entry.path());
    EXPECT_EQ(reader.verify(), std::vector<std::string>()) << entry.path();
    for (const auto& stored : reader.samples()) {
      if (stored.status == trace::Status::kFailed) continue;
      const auto names = reader.read(stored.id).names();
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
                listed[entry.path().filename().string() + "/" + stored.id]);
      ++samples;
    }
  }
  EXPECT_EQ(samples, listed.size());
}

TEST(OldTraces, InspectTellsWhatEachIs) {
  const std::vector<std::pair<std::string, std::string>> known = {{"diffusion", "complete"},
                                                                  {"autoregressive", "complete"},
                                                                  {"single_precision", "complete"},
                                                                  {"sums", "contribution"},
                                                                  {"row_statistics", "log_sum_exp"},
                                                                  {"chosen_rows", "row_weights"},
                                                                  {"queries_and_keys", "qk_after_dot"},
                                                                  {"states", "queries_step1_layer3"},
                                                                  {"matrices", "dense_step1_layer3"},
                                                                  {"failed_sample", "2 of 3 done, 1 failed"},
                                                                  {"changed_model", "3.1=0"},
                                                                  {"incomplete", "stopped: 1 of 3 samples"}};
  for (const auto& [name, words] : known) {
    const auto result = run_buoy({"inspect", (old_traces() / name).string()});
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_NE(result.out.find(words), std::string::npos) << name << ": " << result.out;
    EXPECT_NE(result.out.find("made by buoy 0.1.0"), std::string::npos) << name;
  }
}

TEST(OldTraces, EveryAnalysisComputesWhatItDid) {
  const TempFolder scratch;
  const std::vector<std::pair<std::string, std::string>> known = {
      {"floating", "floating_concentration"}, {"drift", "drift_path"},
      {"absorption", "absorption_published"}, {"qk", "qk_published"},
      {"retrieval", "retrieval_by_layer"},    {"flow", "flow_gold_by_layer"},
      {"structure", "structure_floating"},    {"tasks", "tasks_anchors"}};
  for (const auto& [analysis, table] : known) {
    const auto out = scratch / analysis;
    const auto result =
        run_buoy({"analyze", analysis, (old_traces() / "diffusion").string(),
                  (old_traces() / "autoregressive").string(), "--resamples", "50", "--out", out.string()});
    ASSERT_EQ(result.exit_code, 0) << analysis << ": " << result.err;
    const auto found = read_rows(out / "tables" / (table + ".csv"), ',');
    const auto expected = read_rows(old_traces() / "expected" / (table + ".csv"), ',');
    ASSERT_EQ(found.size(), expected.size()) << table;
    for (size_t r = 0; r < found.size(); ++r) {
      ASSERT_EQ(found[r].size(), expected[r].size()) << table << " row " << r;
      for (size_t c = 0; c < found[r].size(); ++c)
        EXPECT_TRUE(same_cell(found[r][c], expected[r][c]))
            << table << " row " << r << " " << expected[0][c] << ": expected " << expected[r][c] << ", found "
            << found[r][c];
    }
  }
}

TEST(OldTraces, ThoseThatFailedStoppedOrWereChangedAreAnalysedToo) {
  const TempFolder scratch;
  for (const char* name : {"failed_sample", "incomplete", "changed_model", "single_precision", "sums"}) {
    const auto result = run_buoy({"analyze", "absorption", (old_traces() / name).string(), "--resamples",
                                  "20", "--out", (scratch / name).string()});
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
    EXPECT_TRUE(fs::exists(scratch / name / "tables/absorption_by_layer.csv")) << name;
  }
  const auto refused = run_buoy({"analyze", "absorption", (old_traces() / "row_statistics").string()});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("received"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace buoy
