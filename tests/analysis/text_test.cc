#include <gtest/gtest.h>

#include <cmath>

#include "analysis/text_case.h"
#include "buoy/analysis/core/run.h"
#include "buoy/base/error.h"
#include "support/temp_folder.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

// Traces hold float32: numbers agree to that, and expectations are written with as many digits as known.
constexpr double kRelative = 2e-6, kAbsolute = 1e-7;

std::vector<fs::path> cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(BUOY_TEST_DATA) / "analysis")) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".txt") || name.ends_with(".txt.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void set_option(analysis::AnalysisOptions& options, const std::string& key, const std::string& value) {
  if (key == "epsilon") {
    options.epsilon = std::stod(value);
  } else if (key == "share_factor") {
    options.share_factor = std::stod(value);
  } else if (key == "mad_factor") {
    options.mad_factor = std::stod(value);
  } else if (key == "layer") {
    options.layer = std::stoll(value);
  } else if (key == "head") {
    options.head = std::stoll(value);
  } else if (key == "sample") {
    options.sample = std::stoll(value);
  } else if (key == "rollout_layers") {
    options.rollout_layers = std::stoll(value);
  } else if (key == "sink_share") {
    options.sink_share = std::stod(value);
  } else if (key == "recall_keys") {
    options.recall_keys = std::stoll(value);
  } else if (key == "replicates") {
    options.bootstrap.replicates = std::stoll(value);
  } else {
    throw std::runtime_error("no option " + key);
  }
}

// "0.25", "0.25~1e-3" (within), "" (nothing), or a text.
bool agrees(const std::string& expected, const Cell& cell) {
  if (text_of(cell) == expected) return true;
  const double found = number_of(cell);
  if (std::isnan(found) || expected.empty()) return false;
  const size_t wave = expected.find('~');
  size_t used = 0;
  const std::string digits = expected.substr(0, wave);
  double wanted = 0;
  try {
    wanted = std::stod(digits, &used);
  } catch (const std::exception&) {
    return false;
  }
  if (used != digits.size()) return false;
  const double slack = wave == std::string::npos ? kAbsolute + kRelative * std::abs(wanted)
                                                 : std::stod(expected.substr(wave + 1));
  return std::abs(found - wanted) <= slack;
}

void compare(const Expectation& expected, const analysis::AnalysisResult& result, const std::string& file) {
  const Table* table = nullptr;
  for (const auto& candidate : result.tables) {
    if (candidate.name == expected.table) table = &candidate;
  }
  const std::string where = file + ":" + std::to_string(expected.line);
  ASSERT_NE(table, nullptr) << where << ": no table " << expected.table;
  std::vector<std::vector<Cell>> rows;
  for (const auto& row : table->rows) {
    bool wanted = true;
    for (const auto& [column, value] : expected.where)
      wanted &= agrees(value, row[testing::column_named(*table, column)]);
    if (wanted) rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), expected.rows.size()) << where << "\n" << to_text(*table);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < expected.columns.size(); ++c) {
      const Cell& cell = rows[r][testing::column_named(*table, expected.columns[c])];
      EXPECT_TRUE(agrees(expected.rows[r][c], cell))
          << where << ": row " << r + 1 << ", " << expected.columns[c] << ": expected " << expected.rows[r][c]
          << ", found " << text_of(cell);
    }
  }
}

class AnalysisText : public ::testing::TestWithParam<fs::path> {};

TEST_P(AnalysisText, GivesTheTablesWrittenDown) {
  const TextCase text = read_text_case(GetParam());
  const TempFolder folder;
  for (const auto& [name, trace] : text.traces) write_trace(folder / name, trace);
  for (const auto& command : text.commands) {
    analysis::RunOptions options;
    for (const auto& [key, value] : command.options) set_option(options.analysis, key, value);
    std::vector<analysis::TraceInput> traces;
    for (const auto& name : command.traces) traces.push_back({folder / name, name});
    const std::string file = GetParam().filename().string();
    try {
      const auto result = run_analyses({command.analysis}, traces, options);
      EXPECT_EQ(command.error, "") << file << ":" << command.line << ": no error";
      for (const auto& expected : command.expected) compare(expected, result.analyses[0], file);
    } catch (const Error& error) {
      ASSERT_FALSE(command.error.empty()) << file << ":" << command.line << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(command.error), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, AnalysisText, ::testing::ValuesIn(cases()), [](const auto& file) {
  std::string name = file.param.stem().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AnalysisText);

}  // namespace
}  // namespace buoy::testing
