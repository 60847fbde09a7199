#include "buoy/report/explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "buoy/base/file/json_file.h"
#include "buoy/report/explorer_plan.h"
#include "buoy/report/quantised_rows.h"
#include "support/base64.h"

namespace buoy::report {
namespace {

using testing::from_base64;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// As the page's script reads it.
std::vector<double> read_row(const Json& data, const std::string& kind, size_t row) {
  const auto codes = from_base64(data[kind + "Codes"]), bytes = from_base64(data[kind + "Scales"]);
  std::vector<float> scales(bytes.size() / sizeof(float));
  std::memcpy(scales.data(), bytes.data(), bytes.size());
  const auto tokens = data["tokens"].get<size_t>();
  const double low = scales[2 * row], high = scales[2 * row + 1];
  std::vector<double> out;
  for (size_t j = 0; j < tokens; ++j) {
    const int code = codes[row * tokens + j];
    out.push_back(code == 0 ? 0.0 : low * std::pow(high / low, (code - 1) / 254.0));
  }
  return out;
}

// Shares over nearly five orders of magnitude that differ in every row.
double share(std::int64_t row, std::int64_t position) {
  static const auto shares = [] {
    std::array<double, 50> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = 0.5 * std::pow(10.0, -static_cast<double>(i) / 10.0);
    return out;
  }();
  return shares[static_cast<size_t>((row * 7 + position * 13) % 50)];
}

ExploredSample sample_of(const ExplorerSize& size, std::int64_t tokens) {
  ExploredSample sample;
  sample.trace = "model";
  sample.id = "sample-0";
  sample.masked_diffusion = true;
  sample.model_layers = size.layers;
  sample.heads = size.heads;
  sample.tokens = tokens;
  sample.prompt_length = tokens / 2;
  for (std::int64_t s = 0; s < size.steps; ++s) sample.steps.push_back(static_cast<std::int32_t>(s));
  for (std::int64_t l = 0; l < size.layers; ++l) sample.layers.push_back(static_cast<std::int32_t>(l));
  sample.revealed_at.assign(static_cast<size_t>(tokens), -1);
  sample.masked_forwards.assign(static_cast<size_t>(tokens), 0);
  sample.received = [size, tokens](std::int64_t step, std::int64_t layer) {
    std::vector<double> rows;
    for (std::int64_t h = 0; h <= size.heads; ++h) {
      for (std::int64_t j = 0; j < tokens; ++j)
        rows.push_back(share((step * size.layers + layer) * (size.heads + 1) + h, j));
    }
    return rows;
  };
  return sample;
}

TEST(Explorer, ValuesComeBackWithinTheStatedError) {
  const ExplorerSize size{3, 4, 2, 0};
  const auto panel = explorer_panel(sample_of(size, 60));
  const Json data = Json::parse(panel.data);
  EXPECT_EQ(data["headSteps"].size(), 3u) << "all of it fits";
  EXPECT_EQ(data["headLayers"].size(), 4u);
  size_t mean = 0, single = 0;
  for (std::int64_t forward = 0; forward < size.steps * size.layers; ++forward) {
    for (std::int64_t h = 0; h <= size.heads; ++h) {
      const auto row = h == 0 ? read_row(data, "mean", mean++) : read_row(data, "head", single++);
      for (std::int64_t j = 0; j < 60; ++j) {
        const double expected = share(forward * (size.heads + 1) + h, j);
        EXPECT_NEAR(row[static_cast<size_t>(j)], expected, expected * kMostQuantisedError);
      }
    }
  }
  EXPECT_NE(data["note"].get<std::string>().find("2.3%"), std::string::npos);
}

// Of the forwards that are on the page; of a model that decodes no blocks nothing.
TEST(Explorer, StepsOfBlocksSayWhatTheyReach) {
  auto sample = sample_of({3, 4, 2, 0}, 60);
  EXPECT_EQ(Json::parse(explorer_panel(sample).data)["reach"], Json::array());
  sample.reach = {{48, 52, 4, 0}, {52, 56, 4, 0}, {0, 60, 4, 0}};
  EXPECT_EQ(Json::parse(explorer_panel(sample).data)["reach"], Json(sample.reach));
  const Json few = Json::parse(explorer_panel(sample, 68 * 8).data);
  EXPECT_EQ(few["steps"].size(), few["reach"].size());
  EXPECT_EQ(few["reach"].back(), Json(sample.reach.back()));
}

TEST(Explorer, TheStatedErrorIsThatOfTheCode) {
  EXPECT_GE(kMostQuantisedError, std::pow(1 / kQuantisedFloor, 0.5 / 254) - 1);
  QuantisedRows rows;
  std::vector<double> row;
  for (int i = 0; i <= 5000; ++i) row.push_back(0.9 * std::pow(10.0, -i / 1000.0));
  rows.add(row);
  EXPECT_LE(rows.largest_error(), kMostQuantisedError);
  EXPECT_GE(rows.largest_error(), 0.022) << "the bound is no looser than it must be";
}

TEST(Explorer, NothingAndWhatIsNoNumberBecomeNothing) {
  QuantisedRows rows;
  rows.add(std::vector<double>{kNan, 0.0, -0.5, 0.5, 0.5e-6, std::numeric_limits<double>::infinity()});
  rows.add(std::vector<double>{0.0, 0.0, kNan, 0.0, 0.0, 0.0});
  rows.add(std::vector<double>{0.25, 0.25, 0.25, 0.25, 0.25, 0.25});
  EXPECT_EQ(std::vector<std::uint8_t>(rows.codes().begin(), rows.codes().begin() + 12),
            (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(rows.scales(), (std::vector<float>{0.5F, 0.5F, 0, 0, 0.25F, 0.25F}));
  EXPECT_EQ(rows.codes()[12], 1) << "low itself: a row of equal values is exact";
  EXPECT_EQ(rows.largest_error(), 0.0);

  auto sample = sample_of({2, 2, 2, 0}, 8);
  sample.received = [](std::int64_t, std::int64_t) { return std::vector<double>(24, kNan); };
  const auto panel = explorer_panel(sample);
  EXPECT_EQ(panel.data.find("nan"), std::string::npos);
  EXPECT_EQ(read_row(Json::parse(panel.data), "mean", 0), std::vector<double>(8, 0.0));
}

TEST(Explorer, ALargeSampleKeepsTheBudget) {
  auto sample = sample_of({128, 32, 32, 0}, 1200);
  sample.masked_forwards.back() = 128;
  sample.last_is_final_row = true;
  const Json data = Json::parse(explorer_panel(sample).data);
  std::int64_t bytes = 0;
  for (const auto* key : {"meanCodes", "meanScales", "headCodes", "headScales"})
    bytes += std::ssize(from_base64(data[key]));
  EXPECT_LE(bytes, kExplorerBudget);
  EXPECT_GE(bytes, kExplorerBudget * 9 / 10) << "and uses it";
  EXPECT_EQ(data["layers"].size(), 32u) << "steps are left out before layers";
  EXPECT_EQ(data["steps"].front(), 0);
  EXPECT_EQ(data["steps"].back(), 127);
  EXPECT_EQ(data["headSteps"].size(), 1u);
  EXPECT_GE(data["headLayers"].size(), 2u);
  EXPECT_EQ(data["maskedSteps"].back(), data["steps"].size()) << "counted among the steps that are kept";
  EXPECT_EQ(from_base64(data["headCodes"]).size(), data["headLayers"].size() * 32 * 1200);
}

// Rows of the queries that write the answer, mean over heads.
ExploredSample with_queries(ExploredSample sample, std::vector<std::int32_t> positions) {
  const std::int64_t layers = std::ssize(sample.layers), tokens = sample.tokens,
                     count = std::ssize(positions);
  sample.row_positions = std::move(positions);
  sample.prediction_offset = 1;
  sample.rows = [=](std::int64_t step, std::int64_t layer) {
    std::vector<double> rows;
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t j = 0; j < tokens; ++j)
        rows.push_back(share(((step * layers + layer) * count + r) * 3 + 1, j));
    }
    return rows;
  };
  return sample;
}

TEST(Explorer, RowsOfTheAnswersQueriesComeBack) {
  const auto panel = explorer_panel(with_queries(sample_of({3, 4, 2, 0}, 60), {29, 30, 31}));
  const Json data = Json::parse(panel.data);
  EXPECT_EQ(data["rowPositions"], Json({29, 30, 31}));
  EXPECT_EQ(data["rowOffset"], 1);
  EXPECT_EQ(data["rowSteps"], Json({0, 1, 2}));
  EXPECT_EQ(data["rowLayers"], Json({0, 1, 2, 3}));
  for (std::int64_t row = 0; row < 3 * 4 * 3; ++row) {
    const auto found = read_row(data, "row", static_cast<size_t>(row));
    for (std::int64_t j = 0; j < 60; ++j) {
      const double expected = share(row * 3 + 1, j);
      ASSERT_NEAR(found[static_cast<size_t>(j)], expected, expected * kMostQuantisedError)
          << row << ", " << j;
    }
  }
  const Json without = Json::parse(explorer_panel(sample_of({3, 4, 2, 0}, 60)).data);
  EXPECT_TRUE(without["rowPositions"].empty() && without["rowSteps"].empty());
  EXPECT_NE(
      without["note"].get<std::string>().find("Rows of the queries that write the answer are not here."),
      std::string::npos);
}

TEST(Explorer, RowsOfQueriesKeepTheirBudget) {
  std::vector<std::int32_t> positions(32);
  for (size_t r = 0; r < positions.size(); ++r) positions[r] = static_cast<std::int32_t>(600 + r);
  const Json data =
      Json::parse(explorer_panel(with_queries(sample_of({16, 32, 8, 0}, 1000), positions)).data);
  const auto bytes = std::ssize(from_base64(data["rowCodes"])) + std::ssize(from_base64(data["rowScales"]));
  EXPECT_LE(bytes, kQueryBudget);
  EXPECT_GE(bytes, kQueryBudget * 8 / 10);
  EXPECT_EQ(data["rowSteps"].size(), 1u) << "layers come before steps";
}

TEST(Explorer, PlansStayWithinTheirRows) {
  for (const std::int64_t rows : {1, 2, 5, 31, 32, 33, 100, 1000, 5000, 100000}) {
    for (const std::int64_t steps : {1, 2, 17, 128}) {
      for (const std::int64_t heads : {1, 8, 32}) {
        const auto plan = plan_explorer({steps, 32, heads, rows});
        ASSERT_FALSE(plan.steps.empty() || plan.layers.empty());
        const auto single = plan.head_steps.size() * plan.head_layers.size() * static_cast<size_t>(heads);
        EXPECT_LE(plan.steps.size() * plan.layers.size() + single, static_cast<size_t>(rows));
        EXPECT_EQ(plan.steps.back(), steps - 1);
        for (const auto* indices : {&plan.steps, &plan.layers, &plan.head_steps, &plan.head_layers})
          EXPECT_TRUE(std::is_sorted(indices->begin(), indices->end(), std::less_equal<>())) << "each once";
      }
    }
  }
}

TEST(Explorer, HostileTokensStayText) {
  auto sample = sample_of({1, 1, 1, 0}, 5);
  sample.trace = "<b>\"model\"</b>";
  sample.token_texts = {"</script><script>alert(1)</script>", "<!--", "\"quoted\\\"", "\xff\xfe",
                        "it's\n\x01"};
  const auto panel = explorer_panel(sample);
  EXPECT_EQ(panel.data.find('<'), std::string::npos);
  const Json data = Json::parse(panel.data);
  EXPECT_EQ(data["texts"][0], sample.token_texts[0]);
  EXPECT_EQ(data["texts"][2], sample.token_texts[2]);
  EXPECT_EQ(data["texts"][4], sample.token_texts[4]);
  const std::string page = explorer_html({&panel, 1});
  EXPECT_EQ(page.find("<b>\"model\""), std::string::npos);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
}

TEST(Explorer, WhatCannotBeShownSaysWhy) {
  EXPECT_EQ(explorer_html({}), "");
  const auto too_long = explorer_panel(sample_of({1, 1, 1, 0}, 100), 50);
  EXPECT_TRUE(too_long.data.empty());
  EXPECT_NE(too_long.lacking.find("100 tokens"), std::string::npos);
  const std::vector<ExplorerPanel> panels = {{"plain", "", "expected received, found <none>", false}};
  const std::string page = explorer_html(panels);
  EXPECT_NE(page.find("plain: nothing to explore: expected received, found &lt;none&gt;"), std::string::npos);
  EXPECT_EQ(page.find("explorer-panel"), std::string::npos);
}

}  // namespace
}  // namespace buoy::report
