#include "buoy/figure/layout/layout.h"

#include <fmt/format.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/figure/layout/chart_ranges.h"
#include "buoy/figure/layout/grid.h"
#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {
namespace {

constexpr double kPointsPerMm = 72 / 25.4;
constexpr size_t kFigureTitleLines = 6;  // a finding without its end may be another
constexpr size_t kCaptionLines = 6;
constexpr double kLongestBar = 220;  // points

std::vector<double> values_of(const Panel& panel) {
  if (const auto* map = std::get_if<Heatmap>(&panel.content)) return map->matrix.values;
  std::vector<double> values;
  if (const auto* strip = std::get_if<TokenStrip>(&panel.content)) {
    for (const auto& token : strip->tokens) values.push_back(token.value);
  }
  return values;
}

ColorScale own_scale(const Panel& panel) {
  if (const auto* map = std::get_if<Heatmap>(&panel.content)) return map->colors;
  if (const auto* strip = std::get_if<TokenStrip>(&panel.content)) return strip->colors;
  return {};
}

ColorScale scale_of(const Panel& panel, Theme theme) {
  ColorScale scale = own_scale(panel);
  scale.map = themed(scale.map, theme);
  return scale;
}

// Of all panels that show the same quantity in the same colours, so that a colour means the same in each.
std::vector<double> values_beside(const Figure& figure, const Panel& panel) {
  const ColorScale scale = own_scale(panel);
  if (scale.label.empty()) return values_of(panel);
  std::vector<double> all;
  for (const auto& other : figure.panels) {
    if (!(own_scale(other) == scale)) continue;
    const auto values = values_of(other);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// One for each panel; those of charts go unused.
std::vector<ResolvedScale> resolve_scales(const Figure& figure, Theme theme) {
  std::vector<ResolvedScale> scales;
  if (!figure.one_scale) {
    for (const auto& panel : figure.panels)
      scales.emplace_back(scale_of(panel, theme), values_beside(figure, panel));
    return scales;
  }
  std::vector<double> all;
  ColorScale shared;
  for (const auto& panel : figure.panels) {
    const auto values = values_of(panel);
    if (!values.empty()) shared = scale_of(panel, theme);
    all.insert(all.end(), values.begin(), values.end());
  }
  scales.assign(figure.panels.size(), ResolvedScale(shared, all));
  return scales;
}

// Lines of text across the page.
struct TextBlock {
  std::vector<std::string> lines;
  TextStyle style;
  TextRole role = TextRole::kTitle;

  double height() const { return static_cast<double>(lines.size()) * kLineHeight * style.size; }

  void draw(const Look& look, Point at, Scene& scene) const {
    for (const auto& text : lines) {
      Label label{text, at, Align::kStart, Align::kStart, false, style};
      label.role = role;
      add_label(scene, look.measure, label);
      at.y += kLineHeight * style.size;
    }
  }
};

void draw_shared_bar(const Look& look, const ColorBar& bar, double x, Scene& scene) {
  double top = scene.height, bottom = 0;
  for (const auto& area : scene.areas) {
    if (area.kind != AreaKind::kPlot) continue;
    top = std::min(top, area.box.y);
    bottom = std::max(bottom, area.box.bottom());
  }
  const double length = std::min(bottom - top, kLongestBar * look.unit());
  bar.draw({x, (top + bottom - length) / 2, bar.depth(), length}, scene);
}

}  // namespace

Scene lay_out(const Figure& described, const TextMeasure& measure, Theme theme) {
  check_figure(described);
  const Figure figure = with_shared_ranges(described);
  const auto scales = resolve_scales(figure, theme);
  const Look look{measure, figure.font_pt, theme};
  const double margin = 3 * look.unit();
  Scene scene;
  scene.page = look.palette().page;
  scene.ink = look.palette().ink;
  scene.width = figure.width_mm * kPointsPerMm;
  const double width = scene.width - 2 * margin;
  const TextStyle title_style{figure.font_pt * 1.125, true};
  const TextBlock title{wrap(measure, {figure.title, title_style, width}, kFigureTitleLines), title_style,
                        TextRole::kTitle};
  const TextBlock caption{wrap(measure, {figure.caption, look.small(), width}, kCaptionLines), look.small(),
                          TextRole::kCaption};
  const double head = title.lines.empty() ? 0 : title.height() + 0.5 * look.font;
  const double foot = caption.lines.empty() ? 0 : caption.height() + 1.2 * look.font;

  const double bar_gap = 1.2 * look.font;
  std::optional<ColorBar> shared;
  if (figure.one_scale) {
    shared.emplace(look, ColorBar::Request{scales.front(), BarDirection::kUp, 0.25 * width});
  }
  const double beside = shared ? shared->depth() + bar_gap : 0;
  const double page_height = figure.height_mm * kPointsPerMm;
  const Rect body{margin, margin + head, width - beside,
                  figure.height_mm == 0 ? 0 : page_height - 2 * margin - head - foot};
  const Grid grid(look, figure, scales, body);
  scene.height = figure.height_mm == 0 ? 2 * margin + head + grid.height() + foot : page_height;
  grid.draw(scene);
  if (shared) draw_shared_bar(look, *shared, body.right() + bar_gap, scene);
  title.draw(look, {margin, margin}, scene);
  caption.draw(look, {margin, scene.height - margin - caption.height()}, scene);
  return scene;
}

}  // namespace buoy::figure
