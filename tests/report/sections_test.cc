// What the sections of a report say and draw, from small tables.

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <variant>

#include "buoy/report/section.h"
#include "claims/claims_support.h"

namespace buoy::report {
namespace {

using claims::add_cells;
using claims::column_named;
using claims::kSamples;
using claims::says;
using claims::table;

const NamedFigure* figure_of(const Section& section, const std::string& name) {
  for (const auto& figure : section.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

TEST(StructureSection, CallsASlopeASlopeAndNotADifferenceOfTwoLayers) {
  const Table depth =
      table("structure_depth", {"trace", "quantity", "class", "queries", "depth", "value", "lower", "upper"},
            {{"d", "lift", "structural", "all", "slope", -1.5, -2.0, -1.0},
             {"d", "lift", "content", "all", "slope", 0.5, 0.25, 0.75},
             {"d", "lift", "evidence", "answer", "slope", 4.32, 4.0, 4.7}});
  const auto section = build_section("structure", std::vector<Table>{depth});
  ASSERT_EQ(section.readings.size(), 1u);
  const auto& reading = section.readings[0];
  EXPECT_TRUE(says(reading, "lift on the evidence 4.32 [4, 4.7]")) << reading;
  EXPECT_TRUE(says(reading, "straight lines fitted")) << reading;
  EXPECT_FALSE(says(reading, "first to the last layer")) << reading;
}

// Tables of `buoy analyze floating`, whose rules are called by the options.
std::vector<Table> floating_tables(const std::string& sigma, const std::string& share) {
  const std::string doubled = share + "_doubled";
  return {table("floating_by_layer",
                {"trace", "layer", "view", "rule", "set_size", "set_size_lower", "set_size_upper",
                 "null_set_size"},
                {{"d", 0.0, "head_mean", sigma, 2.0, 1.5, 2.5, 0.0},
                 {"d", 1.0, "head_mean", sigma, 3.0, 2.5, 3.5, 0.0},
                 {"d", 0.0, "head_mean", sigma + "_lift", 9.0, 8.0, 10.0, 0.0}}),
          table("floating_concentration",
                {"trace", "layer", "view", "measure", "value", "lower", "upper", "null"},
                {{"d", 0.0, "per_head", "top_share", 0.2, 0.1, 0.3, 0.02}}),
          table("floating_composition", {"trace", "view", "rule", "dimension", "class", "share", "base"},
                {{"d", "per_head", share, "type", "content", 0.75, 0.5},
                 {"d", "per_head", doubled, "type", "content", 0.25, 0.5}}),
          table("floating_depth", {"trace", "quantity", "rule", "view", "depth", "value", "lower", "upper"},
                {{"d", "set_size", sigma, "head_mean", "all layers", 2.5, 2.25, 2.75}}),
          table("floating_tokens", {"trace", "view", "rule", "token"},
                {{"d", "per_head", share, "anchor"}, {"d", "per_head", doubled, "other"}})};
}

TEST(FloatingSection, FindsTheRulesOfOtherOptionsAndDoesNotCallThemPublished) {
  for (const auto& [sigma, share] : {std::pair{"three_sigma", "share_4"}, std::pair{"2_sigma", "share_5"}}) {
    const auto section = build_section("floating", floating_tables(sigma, share));
    const auto* sizes = figure_of(section, "floating_by_layer");
    ASSERT_NE(sizes, nullptr);
    const auto& panel = sizes->figure.panels.at(0);
    EXPECT_EQ(panel.title, std::string(sigma) == "three_sigma" ? "Three-sigma sets, head mean (published)"
                                                               : "Sets by 2_sigma, head mean");
    const auto& chart = std::get<figure::LineChart>(panel.content);
    ASSERT_EQ(chart.series.size(), 1u) << sigma;
    EXPECT_EQ(chart.series[0].y, (std::vector<double>{2.0, 3.0})) << sigma;
    const auto* types = figure_of(section, "floating_types");
    ASSERT_NE(types, nullptr) << share;
    EXPECT_TRUE(says(types->caption, share)) << types->caption;
    EXPECT_EQ(std::get<figure::BarChart>(types->figure.panels.at(0).content).series.at(0).values,
              (std::vector<double>{0.75}));
    ASSERT_EQ(section.readings.size(), 1u);
    EXPECT_TRUE(says(section.readings[0], "2.5 [2.25, 2.75] tokens float")) << section.readings[0];
    EXPECT_TRUE(says(section.readings[0], "Most often: \"anchor\".")) << section.readings[0];
  }
}

// Tables of `buoy analyze drift` in which some layers have a value in a few samples only.
std::vector<Table> drift_tables(std::int64_t thin) {
  Table layers = table("drift_by_layer", {"trace", "layer", "view", "positions", "rule", "scalar", "value",
                                          "lower", "upper", "null", "samples"});
  const auto add = [&](double layer, const std::string& rule, const std::string& scalar, std::int64_t n) {
    const Cell none;
    add_cells(layers, {"d", layer, "head_mean", "all", rule, scalar, 0.5, n > 1 ? Cell(0.25) : none,
                       n > 1 ? Cell(0.75) : none, 0.0, n});
  };
  for (const double layer : {0.0, 1.0, 2.0}) {
    const std::int64_t n = layer == 1 ? thin : kSamples;
    add(layer, "three_sigma", "jaccard", kSamples);
    add(layer, "", "spearman_step", n);
    add(layer, "", "spearman_frontier", n);
  }
  Table summary = table("drift_summary", {"trace", "view", "positions", "rule", "scalar", "depth", "value",
                                          "lower", "upper", "null", "samples"});
  for (const std::string scalar : {"jaccard", "static", "spearman_step"}) {
    const std::string rule = scalar == "jaccard" ? "three_sigma" : "";
    add_cells(summary,
              {"d", "head_mean", "all", rule, scalar, "all layers", 0.5, 0.25, 0.75, 0.125, kSamples});
  }
  add_cells(summary, {"d", "head_mean", "all", "", "spearman_step_given_frontier", "all layers", 0.0, Cell(),
                      Cell(), 0.0, thin});
  return {layers, summary};
}

TEST(EvaluationSection, ReadsOutWhatFailedAndWhy) {
  const std::vector<Table> tables = {
      table("eval_scores",
            {"trace", "model", "set", "condition", "axis", "value", "items", "failed", "metric", "mean",
             "lower", "upper"},
            {{"run", "m", "s", "passages", "", "", 9.0, 2.0, "exact_match", 0.5, 0.25, 0.75},
             {"run", "m", "s", "passages", "", "", 9.0, 2.0, "f1", 0.5, 0.25, 0.75}}),
      table(
          "eval_failures", {"trace", "model", "set", "condition", "id", "error"},
          {{"run", "m", "s", "passages", "q7", "item q7: prompt: expected some text, found an empty prompt"},
           {"run", "m", "s", "passages", "q8", "another"}})};
  const auto section = build_section("evaluation", tables);
  ASSERT_EQ(section.readings.size(), 2u);
  EXPECT_TRUE(says(section.readings[1], "m on s, passages: 2 items failed")) << section.readings[1];
  EXPECT_TRUE(says(section.readings[1], "item q7: prompt")) << section.readings[1];
}

TEST(DriftSection, SaysOfHowFewSamplesANumberIs) {
  const auto reading = build_section("drift", drift_tables(1)).readings.at(0);
  EXPECT_TRUE(says(reading, "given the unmasking frontier 0 (1 sample).")) << reading;
  EXPECT_TRUE(says(reading, "with the step is 0.5 [0.25, 0.75], given")) << "enough samples are not counted";
  const auto nine = build_section("drift", drift_tables(9)).readings.at(0);
  EXPECT_TRUE(says(nine, "0 (9 samples).")) << nine;
  const auto ten = build_section("drift", drift_tables(10)).readings.at(0);
  EXPECT_TRUE(says(ten, "frontier 0.")) << ten;
}

TEST(DriftSection, TitleAndFootComeFromTheTables) {
  const auto section = build_section("drift", drift_tables(2));
  const auto* figure = figure_of(section, "drift_by_layer");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(says(figure->figure.title, "against 0.12 of random sets (d)")) << figure->figure.title;
  const std::string many = std::to_string(kSamples);
  EXPECT_EQ(figure->figure.caption, "Sets: n = " + many + " samples. Paths: n = " + many + " samples.");
}

TEST(DriftSection, DoesNotDrawPointsOfOneOrTwoSamples) {
  for (const std::int64_t thin : {1, 2, 3}) {
    const auto section = build_section("drift", drift_tables(thin));
    const auto* figure = figure_of(section, "drift_by_layer");
    ASSERT_NE(figure, nullptr);
    const auto& chart = std::get<figure::LineChart>(figure->figure.panels.at(1).content);
    ASSERT_EQ(chart.series.size(), 2u);
    for (const auto& series : chart.series) {
      EXPECT_EQ(std::isfinite(series.y.at(1)), thin == 3) << series.name;
      EXPECT_EQ(std::isfinite(series.lower.at(1)), thin == 3) << series.name;
      EXPECT_TRUE(std::isfinite(series.y.at(0)) && std::isfinite(series.lower.at(0))) << series.name;
    }
  }
}

TEST(FlowSection, RolloutAndItsNullHaveOneScale) {
  const Table rollout =
      table("flow_rollout", {"trace", "forward", "pooling", "all_layers", "from", "to", "flow", "uniform"},
            {{"d", "published", "sum", "yes", "answer", "answer", 0.31, 0.25},
             {"d", "published", "sum", "yes", "answer", "bos", 0.1, 0.2},
             {"d", "published", "sum", "yes", "bos", "answer", 0.0, 0.1},
             {"d", "published", "sum", "yes", "bos", "bos", Cell(), 0.1},
             {"d", "denoising_mean", "sum", "yes", "answer", "answer", 0.9, 0.25},
             {"u", "denoising_mean", "sum", "yes", "answer", "answer", 0.9, 0.25},
             {"u", "denoising_last", "sum", "yes", "answer", "answer", 0.9, 0.25}});
  const auto section = build_section("flow", std::vector<Table>{rollout});
  const auto* figure = figure_of(section, "flow_rollout");
  ASSERT_NE(figure, nullptr);
  ASSERT_EQ(figure->figure.panels.size(), 2u);
  for (const auto& panel : figure->figure.panels) {
    const auto& colors = std::get<figure::Heatmap>(panel.content).colors;
    EXPECT_EQ(colors.low, 0.0) << panel.title;
    EXPECT_EQ(colors.high, std::nullopt) << panel.title << ": from the values of all panels";
    const auto& values = std::get<figure::Heatmap>(panel.content).matrix.values;
    for (const double value : values)
      EXPECT_FALSE(value > 0.31) << panel.title << ": the final row's, not a denoising step's";
  }
  EXPECT_TRUE(figure->figure.one_scale);
  EXPECT_TRUE(
      says(figure->caption, "final row, with the authors' regions, heads averaged, mean over samples"))
      << figure->caption;
  ASSERT_EQ(section.left_out.size(), 1u) << "a trace without that forward is named, not drawn";
  EXPECT_TRUE(says(section.left_out[0], "rollout of u: the trace holds no forward over the final row"));
}

// Nothing floats in even attention: there are no sets, and the strongest position never moves.
TEST(DriftSection, OfWhatNeverFloatsDrawsWhatThereIs) {
  auto tables = drift_tables(10);
  for (auto& row : tables[0].rows) {
    if (text_of(row[column_named(tables[0], "scalar")]) == "jaccard")
      row[column_named(tables[0], "value")] = Cell();
  }
  auto section = build_section("drift", tables);
  const auto* figure = figure_of(section, "drift_by_layer");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(std::get<figure::LineChart>(figure->figure.panels.at(0).content).series.empty());
  EXPECT_EQ(std::get<figure::LineChart>(figure->figure.panels.at(1).content).series.size(), 2u)
      << "the direction does not hang on the sets";
  for (auto& row : tables[0].rows) row[column_named(tables[0], "value")] = Cell();
  section = build_section("drift", tables);
  EXPECT_EQ(section.readings.size(), 1u);
}

Table drift_map(const Cell& head) {
  return table(
      "drift_map",
      {"trace", "sample", "layer", "head", "step", "position", "received", "floating", "masked", "token"},
      {{"d", "s7", 3.0, head, 0.0, 0.0, 0.5, 1.0, 0.0, "a"},
       {"d", "s7", 3.0, head, 0.0, 1.0, 0.5, 0.0, 1.0, "b"},
       {"d", "s7", 3.0, head, 1.0, 0.0, 0.5, 0.0, 0.0, "a"},
       {"d", "s7", 3.0, head, 1.0, 1.0, 0.5, 0.0, 0.0, "b"}});
}

TEST(DriftSection, NamesHeadAndSampleInCaptionAndFigure) {
  for (const auto& [head, name, other] : {std::tuple{Cell(std::int64_t{2}), "head 2", "heads averaged"},
                                          {Cell("mean"), "heads averaged", "head "}}) {
    const auto section = build_section("drift", std::vector<Table>{drift_map(head)});
    for (const char* file : {"drift_map_d", "drift_text_d"}) {
      const auto* figure = figure_of(section, file);
      ASSERT_NE(figure, nullptr) << file;
      EXPECT_TRUE(says(figure->caption, "sample s7") && says(figure->caption, name)) << figure->caption;
      EXPECT_TRUE(says(figure->figure.title, "sample s7") && says(figure->figure.title, name))
          << figure->figure.title;
      EXPECT_FALSE(says(figure->caption, other)) << figure->caption;
    }
  }
}

// Lines where blocks begin, and nothing behind a block that is denoised.
TEST(DriftSection, DrawsTheBoundsOfBlocks) {
  Table map = drift_map(Cell("mean"));
  map.rows.pop_back();
  std::swap(map.rows[1], map.rows[2]);  // step 0: position 0 alone; step 1: both
  map.rows[1][4] = 1.0, map.rows[2][4] = 1.0;
  map.rows[1][5] = 0.0, map.rows[2][5] = 1.0;
  const Table blocks =
      table("drift_blocks", {"trace", "sample", "block", "begin", "end"},
            {{"d", "s7", 0.0, 0.0, 1.0}, {"d", "s7", 1.0, 1.0, 2.0}, {"e", "s7", 0.0, 0.0, 2.0}});
  const auto section = build_section("drift", std::vector<Table>{map, blocks});
  const auto* figure = figure_of(section, "drift_map_d");
  ASSERT_NE(figure, nullptr);
  const auto& drawn = std::get<figure::Heatmap>(figure->figure.panels.at(0).content);
  EXPECT_TRUE(std::isnan(drawn.matrix.values.at(1))) << "step 0, position 1: not there yet";
  ASSERT_EQ(drawn.marks.size(), 3u);
  EXPECT_EQ(drawn.marks[2].kind, figure::MarkKind::kLeftEdge);
  EXPECT_EQ(drawn.marks[2].cells, (std::vector<figure::Cell>{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
  EXPECT_TRUE(says(figure->caption, "where blocks begin")) << figure->caption;
}

// Traces of several block lengths, as a study sweeps them.
TEST(DriftSection, DrawsDriftAgainstTheLengthOfBlocks) {
  Table lengths = table("drift_by_block_length", {"trace", "block_length", "rule", "scalar", "value", "lower",
                                                  "upper", "null", "samples"});
  for (const auto& [trace, length] : {std::pair{"b16", 16.0}, {"b4", 4.0}, {"b8", 8.0}}) {
    add_cells(lengths, {trace, length, "three_sigma", "jaccard", 1 / length, 0.0, 1.0, 0.01, 12.0});
    add_cells(lengths, {trace, length, "", "mean_distance", length, 1.0, 20.0, Cell(), 12.0});
  }
  auto tables = drift_tables(10);
  tables.push_back(lengths);
  const auto section = build_section("drift", tables);
  const auto* figure = figure_of(section, "drift_by_block_length");
  ASSERT_NE(figure, nullptr);
  ASSERT_EQ(figure->figure.panels.size(), 2u);
  const auto& stays = std::get<figure::LineChart>(figure->figure.panels[0].content);
  EXPECT_EQ(stays.series.at(0).x, (std::vector<double>{4, 8, 16}));
  EXPECT_EQ(stays.series.at(0).y, (std::vector<double>{0.25, 0.125, 0.0625}));
  EXPECT_EQ(stays.references.size(), 1u);
  EXPECT_EQ(std::get<figure::LineChart>(figure->figure.panels[1].content).series.at(0).y,
            (std::vector<double>{4, 8, 16}));
  // One length is no sweep.
  std::erase_if(tables.back().rows, [](const auto& row) { return text_of(row[0]) != "b4"; });
  EXPECT_EQ(figure_of(build_section("drift", tables), "drift_by_block_length"), nullptr);
}

// A causal query meets the keys up to its own: the pairs of the table are a triangle.
TEST(QkSection, DrawsTheTriangleOfACausalModel) {
  Table pairs = table("qk_pairs", {"trace", "sample", "step", "layer", "head", "query", "key", "dot",
                                   "cosine", "norm_product"});
  for (std::int64_t query = 0; query < 3; ++query) {
    for (std::int64_t key = 0; key <= query; ++key)
      add_cells(pairs, {"a", "s7", 0.0, 5.0, std::int64_t{1}, query, key,
                        static_cast<double>(10 * query + key), 0.5, 2.0});
  }
  const Table columns = table("qk_columns",
                              {"trace", "sample", "step", "layer", "head", "stage", "position", "floating",
                               "dot", "cosine", "norm_product"},
                              {{"a", "s7", 0.0, 5.0, std::int64_t{1}, "after", 0.0, "no", 1.0, 0.5, 2.0}});
  const auto section = build_section("qk", std::vector<Table>{columns, pairs});
  const auto* figure = figure_of(section, "qk_maps_a");
  ASSERT_NE(figure, nullptr);
  const auto& map = std::get<figure::Heatmap>(figure->figure.panels.at(0).content);
  EXPECT_EQ(map.matrix.rows, 3u);
  EXPECT_EQ(map.matrix.columns, 3u);
  EXPECT_EQ(map.matrix.values.at(7), 21.0);
  EXPECT_TRUE(std::isnan(map.matrix.values.at(1))) << "query 0 does not see key 1";
  EXPECT_NO_THROW(figure::check_figure(figure->figure));
  EXPECT_TRUE(says(figure->caption, "a, sample s7, layer 5, step 0, head 1: ")) << figure->caption;
  EXPECT_TRUE(says(figure->figure.title, "sample s7, layer 5, step 0, head 1")) << figure->figure.title;
}

TEST(AbsorptionSection, SaysWhereTheLastStepStandsInForTheFinalRow) {
  const auto published = [](double saw) {
    return table("absorption_published",
                 {"trace", "layer", "absorbed_percent", "deviation", "floor_percent", "saw_final_row"},
                 {{"d", 0.0, 10.0, 1.0, 2.0, saw}});
  };
  const auto caption = [&](double saw) {
    return figure_of(build_section("absorption", std::vector<Table>{published(saw)}), "absorption_published")
        ->caption;
  };
  EXPECT_TRUE(says(caption(0), "the last observed step stands in for d.")) << caption(0);
  EXPECT_FALSE(says(caption(1), "stands in")) << caption(1);
}

TEST(RoutingSection, CountsLayersAndDrawsEachQuantityWithItsNull) {
  const Table layers = table("routing_by_layer",
                             {"trace", "layer", "quantity", "value", "lower", "upper", "null", "excess",
                              "excess_lower", "excess_upper", "samples"},
                             {{"d", 1.0, "change", 0.5, 0.4, 0.6, 0.75, -0.25, -0.35, -0.15, kSamples},
                              {"d", 2.0, "change", 0.7, 0.6, 0.8, 0.75, -0.05, -0.15, 0.05, kSamples},
                              {"d", 1.0, "by_region", 0.5, 0.4, 0.6, 0.1, 0.4, 0.3, 0.5, kSamples},
                              {"d", 2.0, "by_region", 0.1, 0.0, 0.2, 0.1, 0.0, -0.1, 0.1, kSamples}});
  const auto section = build_section("routing", std::vector<Table>{layers});
  const auto* figure = figure_of(section, "routing_by_layer");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->figure.panels.size(), 2u);
  EXPECT_TRUE(says(figure->figure.title, "1 of 2 layers")) << figure->figure.title;
  ASSERT_EQ(section.readings.size(), 1u);
  EXPECT_TRUE(says(section.readings[0], "permuted tokens would in 1 of 2 layers")) << section.readings[0];
  EXPECT_TRUE(says(section.readings[0], "of its region in 1 of 2 layers, of its type in not defined"))
      << section.readings[0];
  EXPECT_TRUE(build_section("routing", {}).figures.empty());
}

}  // namespace
}  // namespace buoy::report
