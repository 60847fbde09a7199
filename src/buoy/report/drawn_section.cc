#include "buoy/report/drawn_section.h"

#include <fmt/format.h>

#include "buoy/base/attempt.h"
#include "buoy/figure/draw/render.h"
#include "buoy/report/drawable.h"

namespace buoy::report {
namespace {

constexpr double kNarrowMm = 130;

std::string told_of(const NamedFigure& named) {
  std::string out;
  for (const auto& text : {named.figure.title, named.caption, named.figure.caption}) {
    if (text.empty()) continue;
    out += out.empty() ? text : " " + text;
    if (!out.ends_with('.')) out += '.';
  }
  return out;
}

DrawnFigure draw(const NamedFigure& named, FileNames& names) {
  DrawnFigure out{names.add(named.name),
                  named.caption,
                  told_of(named),
                  named.figure.width_mm < kNarrowMm,
                  {},
                  {},
                  {},
                  {},
                  {}};
  if (!figure::can_render()) return out;
  figure::Figure figure = named.figure;
  out.left_out = drop_empty_panels(figure);
  if (figure.panels.empty()) {
    out.left_out = {"there are no values to draw"};
    return out;
  }
  const auto failure = attempt([&] {
    std::string svg = figure::render(figure, figure::Format::kSvg),
                dark = figure::render(figure, figure::Format::kSvg, figure::Theme::kDark),
                pdf = figure::render(figure, figure::Format::kPdf),
                png = figure::render(figure, figure::Format::kPng);
    out.svg = std::move(svg), out.dark_svg = std::move(dark);
    out.pdf = std::move(pdf), out.png = std::move(png);
  });
  if (failure) out.left_out = {*failure};
  return out;
}

}  // namespace

std::vector<std::string> DrawnSection::omissions() const {
  std::vector<std::string> out;
  if (!left_out.empty()) out.push_back(fmt::format("{} is left out: {}", title, left_out));
  for (const auto& sentence : missing) out.push_back(fmt::format("{}: left out: {}", title, sentence));
  for (const auto& figure : figures) {
    for (const auto& reason : figure.left_out) {
      out.push_back(figure.svg.empty()
                        ? fmt::format("{}: figure {} is left out: {}", title, figure.name, reason)
                        : fmt::format("{}: of figure {} a part is left out: {}", title, figure.name, reason));
    }
  }
  return out;
}

DrawnSection draw_section(const AnalysedTables& analysis, const ModelColors& colors, FileNames& names) {
  DrawnSection out{analysis.name, analysis.title, {}, {}, {}, {}, {}};
  const auto failure = attempt([&] {
    Section section = build_section(analysis.name, analysis.tables);
    colors.paint(section);
    out.title = std::move(section.title);
    out.question = std::move(section.question);
    out.readings = std::move(section.readings);
    out.missing = std::move(section.left_out);
    for (const auto& named : section.figures) out.figures.push_back(draw(named, names));
  });
  if (failure) out.left_out = *failure;
  return out;
}

}  // namespace buoy::report
