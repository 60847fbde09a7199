#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "buoy/figure/layout/marks.h"
#include "buoy/figure/layout/matrix_image.h"
#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {
namespace {

constexpr double kMatrixAspect = 0.62;   // height of a plot whose cells need not be square, at most
constexpr double kFlattest = 0.25;       // at least
constexpr double kTallestRow = 2.2;      // in sizes of the font
constexpr double kNamesOfWidth = 0.3;    // of the plot that names on the left may take
constexpr double kNamesOfHeight = 0.35;  // and below
constexpr double kLeastNames = 5;        // sizes of the font that they may take anyway

bool has_nan(const Matrix& matrix) {
  return std::any_of(matrix.values.begin(), matrix.values.end(),
                     [](double value) { return std::isnan(value); });
}

double per(double length, size_t count) {
  return length / static_cast<double>(count);
}

class MatrixPanel : public PanelLayout {
 public:
  MatrixPanel(const Look& look, const Heatmap& map, const PanelPlan& plan)
      : look_(look),
        map_(map),
        scale_(*plan.scale),
        raster_(raster_of(map.matrix, fit_cells(map, plan.plot))),
        frame_(make_frame(plan)) {
    if (plan.draws_color_bar) {
      bar_.emplace(look, ColorBar::Request{scale_, BarDirection::kUp, fit_cells(map, plan.plot).height,
                                           frame_.x.depth()});
    }
  }

  Insets insets() const override {
    Insets room = frame_.insets(look_);
    if (bar_) {
      room.right = std::max(room.right, bar_gap() + bar_->depth());
      room.top = std::max(room.top, bar_->overhang());
      room.bottom = std::max(room.bottom, bar_->overhang());
    }
    return room;
  }

  double natural_height(double plot_width) const override {
    if (!map_.square_cells) {
      const double tall = kTallestRow * look_.font * static_cast<double>(map_.matrix.rows);
      return std::clamp(tall, kFlattest * plot_width, kMatrixAspect * plot_width);
    }
    return per(plot_width, map_.matrix.columns) * static_cast<double>(map_.matrix.rows);
  }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& room = place.plot;
    const Size size = fit_cells(map_, {room.width, room.height});
    const Rect plot{room.x, room.y, size.width, size.height};
    const Stroke outline{look_.palette().ink, look_.hairline(), {}};
    if (has_nan(map_.matrix)) {
      scene.items.emplace_back(hatching(plot, {look_.palette().light_grey, look_.hairline(), {}}));
    }
    scene.items.emplace_back(matrix_image({map_.matrix, scale_, map_.first_row, raster_, plot}));
    scene.items.emplace_back(outlined(plot, outline));
    const CellGrid grid{plot, map_.matrix.rows, map_.matrix.columns, map_.first_row};
    if (map_.print_values) draw_values(grid, scene);
    for (const auto& marks : map_.marks) draw_marks(look_, marks, grid, scene);
    frame_.draw(look_, {plot, place.left, place.right}, scene);
    if (bar_) bar_->draw({plot.right() + bar_gap(), plot.y, bar_->depth(), plot.height}, scene);
  }

 private:
  static Size fit_cells(const Heatmap& map, const Size& room) {
    if (!map.square_cells) return room;
    const double side = std::min(per(room.width, map.matrix.columns), per(room.height, map.matrix.rows));
    return {side * static_cast<double>(map.matrix.columns), side * static_cast<double>(map.matrix.rows)};
  }

  PanelFrame make_frame(const PanelPlan& plan) const {
    const Size plot = fit_cells(map_, plan.plot);
    const auto& matrix = map_.matrix;
    const double least = kLeastNames * look_.font;
    AxisLabels x = cell_labels(look_, {Side::kBottom, map_.x, matrix.columns, false, plot.width,
                                       std::max(kNamesOfHeight * plot.height, least), 0});
    AxisLabels y = cell_labels(look_, {Side::kLeft, map_.y, matrix.rows, map_.first_row == FirstRow::kBottom,
                                       plot.height, std::max(kNamesOfWidth * plot.width, least), x.depth()});
    return {std::move(x), std::move(y), Legend(look_, legend_entries(), plan.legend)};
  }

  std::vector<LegendEntry> legend_entries() const {
    std::vector<LegendEntry> entries;
    for (const auto& marks : map_.marks) {
      if (marks.name.empty()) continue;
      const Color middle = sample(scale_.description().map, 0.5);
      entries.push_back(
          {marks.name, [look = look_, middle, kind = marks.kind](const Rect& box, Scene& scene) {
             const Rect cell{box.x + 0.25 * box.width, box.y + 0.1 * box.height, 0.5 * box.width,
                             0.8 * box.height};
             scene.items.emplace_back(filled(cell, middle));
             draw_marks(look, {"", kind, {{0, 0}}}, {cell, 1, 1, FirstRow::kTop}, scene);
           }});
    }
    if (has_nan(map_.matrix)) entries.push_back(no_data_entry(look_));
    if (merges_cells(map_.matrix, raster_)) {
      entries.push_back({fmt::format("Drawn with {} × {} points; each shows the most extreme of its cells.",
                                     std::min(raster_.rows, map_.matrix.rows),
                                     std::min(raster_.columns, map_.matrix.columns)),
                         {}});
    }
    return entries;
  }

  double bar_gap() const { return 0.8 * look_.font; }

  std::string value_text(double value) const {
    auto text = fmt::format("{:.{}f}", value, map_.decimals);
    if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
    if (text.front() == '-') text.replace(0, 1, "−");
    return text;
  }

  // The largest size at which every value fits its cell.
  std::optional<TextStyle> value_style(const CellGrid& grid) const {
    const Rect cell = grid.cell({0, 0});
    if (cell.height < 6 * (kAscent + kDescent)) return std::nullopt;
    const TextStyle unit{1, false};
    double widest = 0;
    for (const double value : map_.matrix.values) {
      if (std::isfinite(value)) widest = std::max(widest, look_.width(value_text(value), unit));
    }
    const double size = std::min({look_.small().size, cell.height / (kAscent + kDescent),
                                  (cell.width - 1.5 * look_.unit()) / std::max(widest, 1e-9)});
    return size < 6 ? std::nullopt : std::optional(TextStyle{size, false});
  }

  void draw_values(const CellGrid& grid, Scene& scene) const {
    const auto style = value_style(grid);
    if (!style) return;
    for (size_t row = 0; row < grid.rows; ++row) {
      for (size_t column = 0; column < grid.columns; ++column) {
        const double value = map_.matrix.values[row * grid.columns + column];
        if (!std::isfinite(value)) continue;
        Label label{value_text(value),
                    grid.cell({row, column}).middle(),
                    Align::kMiddle,
                    Align::kMiddle,
                    false,
                    *style,
                    readable_on(scale_.color(value))};
        label.role = TextRole::kCellValue;
        add_label(scene, look_.measure, label);
      }
    }
  }

  Look look_;
  const Heatmap& map_;
  const ResolvedScale& scale_;
  Raster raster_;
  PanelFrame frame_;
  std::optional<ColorBar> bar_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_matrix_panel(const Look& look, const Heatmap& map, const PanelPlan& plan) {
  return std::make_unique<MatrixPanel>(look, map, plan);
}

}  // namespace buoy::figure
