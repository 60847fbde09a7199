#include "figure/examples.h"

#include <cmath>
#include <limits>

#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double FixedMeasure::width(const std::string& text, const TextStyle& style) const {
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); at += character_size(text, at)) ++characters;
  return static_cast<double>(characters) * (style.bold ? 0.7 : 0.6) * style.size;
}

Matrix ramp(size_t rows, size_t columns) {
  Matrix matrix{rows, columns, {}};
  const size_t last = rows * columns - 1;
  for (size_t i = 0; i <= last; ++i) {
    matrix.values.push_back(last == 0 ? 0 : static_cast<double>(i) / static_cast<double>(last));
  }
  return matrix;
}

Heatmap example_steps() {
  Heatmap map;
  map.matrix = ramp(32, 52);
  for (size_t i = 0; i < 10; ++i) map.matrix.values[i] = kNan;
  const std::vector<std::string> words = {"The", " capital", " of", " France", "\n", "<|eot_id|>"};
  for (size_t i = 0; i < 52; ++i) map.x.names.push_back(words[i % words.size()]);
  map.x.title = "Token";
  map.y = {"Denoising step", {}, 1, 1};
  map.colors.label = "Attention received (share)";
  map.colors.clip_high = 0.98;
  map.marks = {{"revealed", MarkKind::kOutline, {{3, 4}, {3, 5}, {31, 51}}},
               {"largest", MarkKind::kDot, {{7, 7}}},
               {"padding", MarkKind::kHatch, {{9, 9}}}};
  return map;
}

LineChart example_lines() {
  LineChart chart;
  chart.x_title = "Layer";
  chart.y_title = "Attention absorbed by the sink (share)";
  for (size_t s = 0; s < 4; ++s) {
    Series series;
    series.name = "A model with quite a long name, number " + std::to_string(s);
    ReferenceCurve null;
    null.name = s == 0 ? "null" : "";
    null.of_series = s;
    for (int layer = 0; layer < 32; ++layer) {
      const double y = 0.2 + 0.1 * static_cast<double>(s) + 0.05 * std::sin(layer);
      series.x.push_back(layer);
      series.y.push_back(y);
      series.lower.push_back(y - 0.03);
      series.upper.push_back(y + 0.03);
      null.x.push_back(layer);
      null.y.push_back(0.02);
    }
    chart.series.push_back(series);
    chart.references.push_back(null);
  }
  return chart;
}

BarChart example_bars() {
  BarChart chart;
  chart.y_title = "Exact match";
  chart.groups = {"NQ", "HotpotQA", "MuSiQue", "2WikiMultihopQA", "TriviaQA"};
  chart.series = {
      {"baseline", {0.3, 0.4, 0.2, 0.5, 0.6}, {0.2, 0.3, 0.1, 0.4, 0.5}, {0.4, 0.5, 0.3, 0.6, 0.7}},
      {"sink removed", {0.2, 0.3, kNan, 0.4, 0.5}, {}, {}}};
  chart.references = {0.1, 0.1, 0.1, kNan, 0.1};
  chart.reference_name = "closed book";
  return chart;
}

DotChart example_dots() {
  DotChart chart;
  chart.y_title = "Excess share";
  chart.groups = {"masked diffusion, n = 5", "autoregressive, n = 6"};
  chart.series = {{"networks of this study", {{0.1, 0.12, kNan, 0.05, 0.07}, {0.3}}},
                  {"siblings", {{}, {0.31, 0.29, 0.33, 0.2, 0.25}}},
                  {"untrained", {{0.01}, {-0.01}}, true}};
  chart.means = {{0.09, 0.05, 0.13}, {0.28, 0.22, 0.34}};
  chart.mean_name = "mean";
  chart.null = 0;
  chart.margin = 0.02;
  chart.null_name = "null and margin";
  return chart;
}

Heatmap example_flow() {
  std::vector<std::string> names = {"BOS", "Query"};
  for (int i = 1; i <= 10; ++i) names.push_back("Doc" + std::to_string(i));
  names.emplace_back("Answer");
  ColorScale colors;
  colors.map = ColorMap::kBlues;
  colors.label = "Attention (share of the row)";
  return flow_matrix(ramp(13, 13), names, colors);
}

TokenStrip example_strip(size_t tokens) {
  const std::vector<std::string> words = {"<|startoftext|>", "The", " capital", " of", ".", "\n",
                                          "[MASK]",          " ",   ""};
  TokenStrip strip;
  for (size_t i = 0; i < tokens; ++i) {
    const auto& word = words[i % words.size()];
    const bool special = word.starts_with('<') || word.starts_with('[');
    strip.tokens.push_back({word, i % 11 == 3 ? kNan : static_cast<double>(i % 7), special});
  }
  strip.colors.label = "Attention received (share)";
  return strip;
}

Figure figure_of(Panel panel) {
  Figure figure;
  figure.panels = {std::move(panel)};
  return figure;
}

Figure example_page() {
  Figure page;
  page.title =
      "A title that says in rather many words what is to be seen on this page of six panels, and then more";
  page.caption = "A caption.";
  page.columns = 3;
  page.letters = true;
  page.panels = {{"Sink by layer", example_lines()},
                 {"Heads", head_grid(ramp(32, 32), {})},
                 {"Accuracy when the sink is removed", example_bars()},
                 {"Received by step", example_steps()},
                 {"Flow", example_flow()},
                 {"Tokens", example_strip(90)}};
  return page;
}

std::vector<Figure> all_examples() {
  std::vector<Figure> figures = {example_page()};
  for (const auto& panel : example_page().panels) {
    for (const double width : {89.0, 120.0, 183.0}) {
      figures.push_back(figure_of(panel));
      figures.back().width_mm = width;
    }
  }
  for (const double width : {89.0, 183.0}) {
    figures.push_back(figure_of({"Networks", example_dots()}));
    figures.back().width_mm = width;
  }
  Figure slide = example_page();
  slide.width_mm = 300;
  slide.height_mm = 260;
  slide.font_pt = 12;
  figures.push_back(slide);
  Figure shared;
  shared.columns = 2;
  shared.one_scale = true;
  shared.panels = {{"one", head_grid(ramp(32, 32), {})}, {"other", head_grid(ramp(28, 28), {})}};
  figures.push_back(shared);
  return figures;
}

std::vector<Text> texts_of(const Scene& scene) {
  std::vector<Text> texts;
  for (const auto& item : scene.items) {
    if (const auto* text = std::get_if<Text>(&item)) texts.push_back(*text);
  }
  return texts;
}

std::vector<std::string> words_of(const Scene& scene, TextRole role) {
  std::vector<std::string> words;
  for (const auto& text : texts_of(scene)) {
    if (text.role == role) words.push_back(text.text);
  }
  return words;
}

std::vector<Rect> areas_of(const Scene& scene, AreaKind kind) {
  std::vector<Rect> boxes;
  for (const auto& area : scene.areas) {
    if (area.kind == kind) boxes.push_back(area.box);
  }
  return boxes;
}

}  // namespace buoy::figure::testing
