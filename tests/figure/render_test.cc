#include "buoy/figure/draw/render.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/figure/draw/svg.h"
#include "buoy/figure/layout/layout.h"
#include "figure/examples.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using buoy::testing::fails_with;
using buoy::testing::TempFolder;

const std::vector<Format> kFormats = {Format::kSvg, Format::kPdf, Format::kPng};

class Render : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_render()) GTEST_SKIP() << "a build without Cairo";
  }
};

TEST_F(Render, EqualFiguresGiveEqualBytes) {
  for (const auto format : kFormats) {
    const auto first = render(example_page(), format);
    // Other drawings in between must not leave a trace.
    render(figure_of({"", example_steps()}), format);
    EXPECT_EQ(render(example_page(), format), first);
  }
}

// Cairo shares fonts between threads: every figure in every format on more threads than there are cores, each
// as it is drawn alone.
TEST_F(Render, FiguresDrawnSideBySideAreThoseDrawnAlone) {
  struct Drawn {
    const Figure* figure;
    Format format;
    std::string alone, beside;
  };
  const auto figures = all_examples();
  std::vector<Drawn> all;
  for (const auto& figure : figures) {
    for (const auto format : kFormats) all.push_back({&figure, format, render(figure, format), ""});
  }
  std::vector<std::thread> threads;
  std::atomic<size_t> next = 0;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      for (size_t n = next++; n < all.size(); n = next++)
        all[n].beside = render(*all[n].figure, all[n].format);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& one : all) EXPECT_TRUE(one.alone == one.beside);
}

TEST_F(Render, AnotherFigureGivesOtherBytes) {
  Figure other = example_page();
  std::get<LineChart>(other.panels[0].content).series[0].y[0] += 0.1;
  for (const auto format : kFormats) EXPECT_NE(render(example_page(), format), render(other, format));
}

TEST_F(Render, FilesAreWhatTheirNamesSay) {
  const Figure figure = figure_of({"", example_bars()});
  EXPECT_TRUE(render(figure, Format::kSvg).starts_with("<?xml"));
  EXPECT_TRUE(render(figure, Format::kSvg).ends_with("</svg>\n"));
  EXPECT_TRUE(render(figure, Format::kPdf).starts_with("%PDF-1."));
  EXPECT_TRUE(render(figure, Format::kPng).starts_with("\x89PNG\r\n"));
}

TEST_F(Render, PngHasThePixelsOfItsResolution) {
  Figure figure = figure_of({"", example_bars()});
  figure.width_mm = 254;  // ten inches
  figure.height_mm = 127;
  figure.png_dpi = 100;
  const auto png = render(figure, Format::kPng);
  const auto number = [&](size_t at) {
    return static_cast<unsigned char>(png[at + 2]) << 8 | static_cast<unsigned char>(png[at + 3]);
  };
  EXPECT_NEAR(number(16), 1000, 1);
  EXPECT_NEAR(number(20), 500, 1);
}

TEST_F(Render, VectorFilesHoldNoDateOfToday) {
  const auto pdf = render(example_page(), Format::kPdf);
  const size_t date = pdf.find("/CreationDate (");
  if (date == std::string::npos) {  // Cairo 1.18 keeps it in a compressed object
    EXPECT_NE(pdf.find("/ObjStm"), std::string::npos);
    return;
  }
  EXPECT_NE(pdf.substr(date, 40).find("20000101000000"), std::string::npos);
}

TEST_F(Render, FilesOfLargeMatricesStaySmall) {
  Heatmap map;
  map.matrix = {64, 4096, {}};
  unsigned state = 1;
  for (size_t i = 0; i < map.matrix.rows * map.matrix.columns; ++i) {
    state = state * 1664525u + 1013904223u;
    map.matrix.values.push_back(state >> 8);
  }
  for (const auto format : kFormats) EXPECT_LT(render(figure_of({"", map}), format).size(), 2u << 20);
}

TEST_F(Render, HostileTextsLeaveTheFileWhole) {
  Figure figure = figure_of({"</svg>\n\0<!--", example_strip(5)});
  figure.title = std::string("(\\)\0</svg>\xff\n", 13);
  auto& strip = std::get<TokenStrip>(figure.panels[0].content);
  for (int byte = 0; byte < 256; ++byte)
    strip.tokens.push_back({std::string(1, static_cast<char>(byte)), 1, false});
  const auto svg = render(figure, Format::kSvg);
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
  EXPECT_EQ(svg.find('\0'), std::string::npos);
  EXPECT_NO_THROW(render(figure, Format::kPdf));
  EXPECT_NO_THROW(render(figure, Format::kPng));
}

TEST_F(Render, RefusesMorePixelsThanCairoCanDraw) {
  Figure figure = figure_of({"", example_bars()});
  figure.width_mm = 2000;
  figure.png_dpi = 1200;
  EXPECT_TRUE(
      fails_with<UsageError>([&] { render(figure, Format::kPng); }, {"png_dpi", "30000 pixels", "found"}));
}

TEST_F(Render, WritesEveryFormatBesideTheOthers) {
  const TempFolder temp;
  const Figure figure = figure_of({"", example_bars()});
  write_figure(figure, temp.path() / "layer0.5", kFormats);
  EXPECT_EQ(temp.entries(), 3u);
  EXPECT_EQ(read_file(temp.path() / "layer0.5.svg"), render(figure, Format::kSvg));
  EXPECT_EQ(read_file(temp.path() / "layer0.5.pdf"), render(figure, Format::kPdf));
  EXPECT_EQ(read_file(temp.path() / "layer0.5.png"), render(figure, Format::kPng));
}

TEST_F(Render, WritesNothingWhenAFormatCannotBeRendered) {
  const TempFolder temp;
  Figure figure = figure_of({"", example_bars()});
  figure.width_mm = 2000;
  figure.png_dpi = 1200;
  EXPECT_THROW(write_figure(figure, temp.path() / "wide", kFormats), UsageError);
  EXPECT_EQ(temp.entries(), 0u);
}

TEST(RenderWithoutCairo, SaysWhatToInstall) {
  if (can_render()) GTEST_SKIP() << "a build with Cairo";
  EXPECT_TRUE(fails_with<UsageError>(
      [] {
        render(figure_of({"", example_bars()}), Format::kSvg);
      },
      {"figures", "libcairo2-dev"}));
  EXPECT_THROW(make_text_measure(), UsageError);
}

Scene scene_with(const std::string& text) {
  Scene scene;
  scene.width = scene.height = 100;
  add_label(scene, FixedMeasure(), {text, {10, 20}, Align::kStart, Align::kStart, false, {8, true}, {}});
  Shape clipped = line({{0, 0}, {5, 5}}, {kBlack, 0.5, {1, 2}});
  clipped.clip = Rect{0, 0, 50, 50};
  scene.items.emplace_back(clipped);
  scene.items.emplace_back(clipped);
  scene.items.emplace_back(Image{{0, 0, 10, 10}, 1, 1, {0xff000000}});
  return scene;
}

TEST(Svg, HoldsTextsAsText) {
  const auto svg = svg_of(scene_with("a < b & \"c\""), "t > 1", [](const Image&) { return "png"; });
  EXPECT_NE(svg.find(">a &lt; b &amp; \"c\"</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<title>t &gt; 1</title>"), std::string::npos);
  EXPECT_NE(svg.find("textLength="), std::string::npos) << svg;
  EXPECT_NE(svg.find(" font-size=\"8\" fill=\"#000000\" font-weight=\"bold\">a"), std::string::npos) << svg;
  EXPECT_NE(svg.find("data:image/png;base64,cG5n"), std::string::npos);
}

TEST(Svg, KeepsSpacesThatViewersWouldDrop) {
  const auto has_mark = [](const std::string& text) {
    return svg_of(scene_with(text), "", [](const Image&) { return ""; }).find("xml:space") !=
           std::string::npos;
  };
  EXPECT_TRUE(has_mark(" a") && has_mark("a ") && has_mark("a  b"));
  EXPECT_FALSE(has_mark("a b"));
}

TEST(Svg, SaysOnceHowAlikeShapesLook) {
  Scene scene;
  for (const double x : {1.0, 2.0, 3.0}) {
    Shape dot = circle({x, 5}, 1.234);
    dot.fill = x < 3 ? kBlack : kWhite;
    scene.items.emplace_back(dot);
  }
  const auto svg = svg_of(scene, "", [](const Image&) { return ""; });
  EXPECT_NE(svg.find("<g fill=\"#000000\">\n<circle cx=\"1\" cy=\"5\" r=\"1.23\"/>\n"
                     "<circle cx=\"2\" cy=\"5\" r=\"1.23\"/>\n</g>\n"
                     "<circle cx=\"3\" cy=\"5\" r=\"1.23\" fill=\"#ffffff\"/>\n"),
            std::string::npos)
      << svg;
}

TEST(Svg, ClipsAreDefinedOnceAndBeforeTheirUse) {
  const auto svg = svg_of(scene_with("x"), "", [](const Image&) { return ""; });
  EXPECT_EQ(svg.find("<clipPath"), svg.rfind("<clipPath"));
  EXPECT_LT(svg.find("<clipPath id=\"clip0\">"), svg.find("clip-path=\"url(#clip0)\""));
  EXPECT_EQ(svg.find("<title>"), std::string::npos);
  EXPECT_NE(svg.find("stroke-dasharray=\"1,2\""), std::string::npos);
}

TEST_F(Render, EveryTextOfTheFigureIsInTheSvg) {
  const auto svg = render(example_page(), Format::kSvg);
  for (const auto& text : texts_of(lay_out(example_page(), *make_text_measure()))) {
    const bool plain = text.text.find_first_of("<>&") == std::string::npos;
    EXPECT_TRUE(!plain || svg.find(">" + text.text + "</text>") != std::string::npos) << text.text;
  }
}

}  // namespace
}  // namespace buoy::figure
