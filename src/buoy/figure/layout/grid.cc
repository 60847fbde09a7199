#include "buoy/figure/layout/grid.h"

#include <fmt/format.h>

#include "buoy/base/error.h"

namespace buoy::figure {
namespace {

constexpr int kPasses = 4;  // labels depend on the plots' sizes, and the sizes on the labels
constexpr double kLeastWidth = 20;
constexpr double kLeastHeight = 12;

std::unique_ptr<PanelLayout> make_panel(const Look& look, const Panel& panel, const PanelPlan& plan) {
  if (const auto* map = std::get_if<Heatmap>(&panel.content)) return make_matrix_panel(look, *map, plan);
  if (const auto* chart = std::get_if<LineChart>(&panel.content)) return make_line_panel(look, *chart, plan);
  if (const auto* chart = std::get_if<BarChart>(&panel.content)) return make_bar_panel(look, *chart, plan);
  if (const auto* chart = std::get_if<DotChart>(&panel.content)) return make_dot_panel(look, *chart, plan);
  return make_strip_panel(look, std::get<TokenStrip>(panel.content), plan);
}

std::string letter_of(size_t panel) {
  std::string letters;
  for (size_t rest = panel + 1; rest > 0; rest = (rest - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('a' + (rest - 1) % 26));
  }
  return letters;
}

}  // namespace

Grid::Grid(const Look& look, const Figure& figure, const std::vector<ResolvedScale>& scales, const Rect& body)
    : look_(look), figure_(figure), scales_(scales), body_(body) {
  lefts_.resize(std::min(figure.columns, figure.panels.size()));
  rights_.resize(figure.panels.size());
  rows_.resize((figure.panels.size() + lefts_.size() - 1) / lefts_.size());
  plan_with_names();
}

// Curves are named at their ends; a panel in which the names do not fit has a legend instead, and so have all
// where the names would leave no room for the plots.
void Grid::plan_with_names() {
  names_at_ends_.assign(figure_.panels.size(), true);
  try {
    for (bool changed = true; changed;) {
      plan_all();
      changed = false;
      for (size_t i = 0; i < panels_.size(); ++i) {
        if (panels_[i]->names_fit()) continue;
        names_at_ends_[i] = false;
        changed = true;
      }
    }
  } catch (const UsageError&) {
    names_at_ends_.assign(figure_.panels.size(), false);
    plan_all();
  }
}

void Grid::plan_all() {
  std::fill(lefts_.begin(), lefts_.end(), 0.0);
  const double width = 0.8 * cell_width();
  std::vector<Size> plots(figure_.panels.size(), {width, 0.6 * width});
  for (int pass = 0; pass < kPasses; ++pass) plan(plots);
}

double Grid::cell_width() const {
  const auto count = static_cast<double>(lefts_.size());
  return (body_.width - (count - 1) * gutter()) / count;
}

double Grid::letter_width() const {
  return figure_.letters ? 1.6 * look_.font : 0;
}

std::vector<std::string> Grid::title_lines(size_t panel) const {
  const FitRequest request{figure_.panels[panel].title, look_.bold(), cell_width() - letter_width()};
  return wrap(look_.measure, request, kTitleLines);
}

double Grid::title_height(size_t panel) const {
  const size_t lines = std::max<size_t>(title_lines(panel).size(), figure_.letters ? 1 : 0);
  return lines == 0 ? 0 : static_cast<double>(lines) * kLineHeight * look_.font + 0.35 * look_.font;
}

void Grid::plan(std::vector<Size>& plots) {
  panels_.clear();
  std::fill(rows_.begin(), rows_.end(), Row{});
  const std::vector<double> known_lefts = lefts_;
  std::fill(lefts_.begin(), lefts_.end(), 0.0);
  for (size_t i = 0; i < plots.size(); ++i) {
    const LegendRoom legend{cell_width(), known_lefts[i % lefts_.size()]};
    panels_.push_back(make_panel(look_, figure_.panels[i],
                                 {plots[i], legend, &scales_[i], !figure_.one_scale, names_at_ends_[i]}));
    const Insets insets = panels_.back()->insets();
    Row& row = rows_[i / lefts_.size()];
    double& left = lefts_[i % lefts_.size()];
    row.top = std::max(row.top, insets.top + title_height(i));
    row.bottom = std::max(row.bottom, insets.bottom);
    left = std::max(left, insets.left);
    rights_[i] = insets.right;
  }
  for (size_t i = 0; i < plots.size(); ++i) {
    plots[i].width = plot_of(i).width;
    if (plots[i].width < kLeastWidth) {
      throw_usage_error(
          {fmt::format("figure: panel {}", i + 1), "a page that leaves room for the plot",
           fmt::format("{:.0f} points across, {:.0f} for the plot", cell_width(), plots[i].width)});
    }
    Row& row = rows_[i / lefts_.size()];
    row.wish = std::max(row.wish, panels_[i]->natural_height(plots[i].width));
  }
  share_height();
  for (size_t i = 0; i < plots.size(); ++i) {
    plots[i].height = plot_of(i).height;
    if (plots[i].height < kLeastHeight) {
      throw_usage_error({fmt::format("figure: panel {}", i + 1), "a page that leaves room for the plot",
                         fmt::format("{:.0f} points of height for the plot", plots[i].height)});
    }
  }
}

// On a page of fixed height the plots share what the labels leave, in proportion to their wishes.
void Grid::share_height() {
  double wishes = 0, left = body_.height - static_cast<double>(rows_.size() - 1) * gutter();
  for (auto& row : rows_) {
    row.plot = std::max(row.wish, kLeastHeight);
    wishes += row.plot;
    left -= row.top + row.bottom;
  }
  if (body_.height == 0) return;
  for (auto& row : rows_) row.plot *= left / wishes;
}

double Grid::height() const {
  double height = static_cast<double>(rows_.size() - 1) * gutter();
  for (const auto& row : rows_) height += row.top + row.plot + row.bottom;
  return height;
}

Rect Grid::plot_of(size_t panel) const {
  const size_t row = panel / lefts_.size(), column = panel % lefts_.size();
  double y = body_.y;
  for (size_t i = 0; i < row; ++i) y += rows_[i].top + rows_[i].plot + rows_[i].bottom + gutter();
  const double x = body_.x + static_cast<double>(column) * (cell_width() + gutter());
  return {x + lefts_[column], y + rows_[row].top, cell_width() - lefts_[column] - rights_[panel],
          rows_[row].plot};
}

void Grid::draw(Scene& scene) const {
  for (size_t i = 0; i < panels_.size(); ++i) {
    const Rect plot = plot_of(i);
    const double x = plot.x - lefts_[i % lefts_.size()];
    double y = plot.y - rows_[i / lefts_.size()].top;
    if (figure_.letters) {
      Label letter{letter_of(i), {x, y}, Align::kStart, Align::kStart, false, look_.bold()};
      letter.role = TextRole::kLetter;
      add_label(scene, look_.measure, letter);
    }
    for (const auto& text : title_lines(i)) {
      Label title{text, {x + letter_width(), y}, Align::kStart, Align::kStart, false, look_.bold()};
      title.role = TextRole::kPanelTitle;
      add_label(scene, look_.measure, title);
      y += kLineHeight * look_.font;
    }
    panels_[i]->draw({plot, x, x + cell_width()}, scene);
  }
}

}  // namespace buoy::figure
