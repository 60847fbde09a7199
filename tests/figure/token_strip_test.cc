#include "buoy/figure/chart/token_strip.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/utf8.h"
#include "buoy/figure/layout/layout.h"
#include "figure/examples.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using Words = std::vector<std::string>;

Scene scene_of(const TokenStrip& strip, double height_mm = 0) {
  Figure figure = figure_of({"", strip});
  figure.width_mm = 89;
  figure.height_mm = height_mm;
  return lay_out(figure, FixedMeasure());
}

std::vector<Text> tokens_of(const Scene& scene) {
  std::vector<Text> tokens;
  for (const auto& text : texts_of(scene)) {
    if (text.role == TextRole::kToken) tokens.push_back(text);
  }
  return tokens;
}

TEST(TokenStrip, ReadsInOrderAndBreaksAfterNewlines) {
  const auto tokens = tokens_of(scene_of({{{"The", 1}, {" end", 2}, {".\n", 3}, {"Next", 4}}, {}}));
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[2].text, ".⏎");
  EXPECT_EQ(tokens[0].at.y, tokens[2].at.y);
  EXPECT_LT(tokens[0].at.x, tokens[1].at.x);
  EXPECT_GT(tokens[3].at.y, tokens[2].at.y);
  EXPECT_EQ(tokens[3].at.x, tokens[0].at.x);
}

TEST(TokenStrip, WrapsInsideThePlot) {
  const Scene scene = scene_of(example_strip(300));
  const Rect plot = areas_of(scene, AreaKind::kPlot)[0];
  for (const auto& token : tokens_of(scene)) EXPECT_TRUE(plot.contains(token.box)) << token.text;
}

TEST(TokenStrip, SpecialTokensAreBoldInAFrame) {
  const auto tokens = tokens_of(scene_of({{{"a", 1, false}, {"[MASK]", 2, true}}, {}}));
  EXPECT_FALSE(tokens[0].style.bold);
  EXPECT_TRUE(tokens[1].style.bold);
}

TEST(TokenStrip, SpacesAloneAreVisible) {
  const auto tokens = tokens_of(scene_of({{{"  ", 1, false}, {" a", 2, false}}, {}}));
  EXPECT_EQ(tokens[0].text, "␣␣");
  EXPECT_EQ(tokens[1].text, " a");
}

TEST(TokenStrip, SaysHowManyTokensAPageHasNoRoomFor) {
  const auto tokens = tokens_of(scene_of(example_strip(2000), 60));
  ASSERT_GT(tokens.size(), 10u);
  const auto& remark = tokens.back().text;
  EXPECT_TRUE(remark.starts_with("… ") && remark.ends_with(" more tokens")) << remark;
  // Empty tokens have no text, so the tokens shown are counted by their number in the remark.
  EXPECT_LT(std::stoul(remark.substr(std::string("… ").size())), 2000u);
}

TEST(TokenStrip, TextContrastsWithItsColor) {
  TokenStrip strip;
  for (int i = 0; i <= 20; ++i) strip.tokens.push_back({"x", static_cast<double>(i), false});
  const ResolvedScale scale(strip.colors, std::vector<double>{0, 20});
  const auto tokens = tokens_of(scene_of(strip));
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].color, readable_on(scale.color(static_cast<double>(i))));
  }
}

TEST(TokenStrip, HostileTextsStayOnThePage) {
  TokenStrip strip;
  for (int byte = 0; byte < 256; ++byte)
    strip.tokens.push_back({std::string(1, static_cast<char>(byte)), 1, byte % 2 == 0});
  strip.tokens.push_back({std::string(10'000, 'x'), 1, false});
  strip.tokens.push_back({"</text><script>alert(1)</script>\"'&", 1, true});
  strip.tokens.push_back({"\u202Etxet sdrawkcab", 1, false});
  strip.tokens.push_back({std::string("a\0b", 3), 1, false});
  const Scene scene = scene_of(strip);
  for (const auto& token : tokens_of(scene)) {
    EXPECT_TRUE((Rect{0, 0, scene.width, scene.height}).contains(token.box)) << token.text;
    EXPECT_EQ(first_invalid_utf8(token.text), token.text.size());
    EXPECT_EQ(token.text.find('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace buoy::figure
