#include "buoy/report/drawn_section.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "buoy/base/attempt.h"
#include "buoy/base/side_by_side.h"
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

// A figure to be drawn in each of its forms.
struct Drawing {
  figure::Figure figure;
  DrawnFigure* out;
};

struct Form {
  figure::Format format;
  figure::Theme theme;
  std::string DrawnFigure::*to;
};
constexpr std::array kForms = {Form{figure::Format::kPng, figure::Theme::kPaper, &DrawnFigure::png},
                               Form{figure::Format::kSvg, figure::Theme::kPaper, &DrawnFigure::svg},
                               Form{figure::Format::kSvg, figure::Theme::kDark, &DrawnFigure::dark_svg},
                               Form{figure::Format::kPdf, figure::Theme::kPaper, &DrawnFigure::pdf}};

DrawnFigure begin(const NamedFigure& named, FileNames& names) {
  return {names.add(named.name),
          named.caption,
          told_of(named),
          named.figure.width_mm < kNarrowMm,
          {},
          {},
          {},
          {},
          {}};
}

// What of a figure can be drawn; nothing where that is nothing.
std::optional<Drawing> prepare(const NamedFigure& named, DrawnFigure& out) {
  if (!figure::can_render()) return std::nullopt;
  Drawing drawing{named.figure, &out};
  out.left_out = drop_empty_panels(drawing.figure);
  if (!drawing.figure.panels.empty()) return drawing;
  out.left_out = {"there are no values to draw"};
  return std::nullopt;
}

// What cannot be drawn of controls alone changes nothing of the models' section.
Section section_of(const AnalysedTables& analysis, std::span<const Control> controls) {
  if (controls.empty()) return build_section(analysis.name, analysis.tables);
  Section section = build_section(analysis.name, rows_of(Rows::kOfModels, analysis.tables, controls));
  (void)attempt([&] {
    const auto measured = rows_of(Rows::kOfControls, analysis.tables, controls);
    add_controls(section, build_section(analysis.name, measured), controls);
  });
  return section;
}

void draw_all(std::vector<Drawing>& drawings) {
  std::vector<std::string> failures(drawings.size() * kForms.size());
  run_side_by_side(failures.size(), [&](size_t number) {
    const auto& drawing = drawings[number / kForms.size()];
    const auto& form = kForms[number % kForms.size()];
    const auto failure =
        attempt([&] { drawing.out->*form.to = figure::render(drawing.figure, form.format, form.theme); });
    if (failure) failures[number] = *failure;
  });
  for (size_t number = 0; number < failures.size(); ++number) {
    if (failures[number].empty()) continue;
    DrawnFigure& out = *drawings[number / kForms.size()].out;
    for (const auto& form : kForms) (out.*form.to).clear();
    out.left_out = {failures[number]};
  }
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

std::vector<DrawnSection> draw_sections(std::span<const AnalysedTables> analyses,
                                        std::span<const ModelColors* const> colors, FileNames& names,
                                        std::span<const Control> controls) {
  std::vector<DrawnSection> out;
  std::vector<Section> sections(analyses.size());
  for (size_t a = 0; a < analyses.size(); ++a) {
    DrawnSection& to =
        out.emplace_back(DrawnSection{analyses[a].name, analyses[a].title, {}, {}, {}, {}, {}});
    const auto failure = attempt([&] {
      Section& section = sections[a];
      section = section_of(analyses[a], controls);
      colors[a]->paint(section);
      to.title = section.title;
      to.question = section.question;
      to.readings = section.readings;
      to.missing = section.left_out;
      for (const auto& named : section.figures) to.figures.push_back(begin(named, names));
    });
    if (failure) to.left_out = *failure;
  }
  std::vector<Drawing> drawings;
  for (size_t a = 0; a < analyses.size(); ++a) {
    auto& figures = out[a].figures;
    for (size_t f = 0; f < figures.size(); ++f) {
      if (auto drawing = prepare(sections[a].figures[f], figures[f])) drawings.push_back(std::move(*drawing));
    }
  }
  draw_all(drawings);
  return out;
}

DrawnSection draw_section(const AnalysedTables& analysis, const ModelColors& colors, FileNames& names) {
  const ModelColors* const of[] = {&colors};
  return draw_sections({&analysis, 1}, of, names).front();
}

DrawnSection draw_section(const Section& section, FileNames& names) {
  DrawnSection out{section.name, section.title, section.question, section.readings, {}, section.left_out, {}};
  for (const auto& named : section.figures) out.figures.push_back(begin(named, names));
  std::vector<Drawing> drawings;
  for (size_t f = 0; f < out.figures.size(); ++f) {
    if (auto drawing = prepare(section.figures[f], out.figures[f])) drawings.push_back(std::move(*drawing));
  }
  draw_all(drawings);
  return out;
}

}  // namespace buoy::report
