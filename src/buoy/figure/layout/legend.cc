#include "buoy/figure/layout/legend.h"

#include <numeric>

#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

constexpr size_t kMostLines = 3;
constexpr double kSample = 2.6;  // widths and gaps in sizes of the font
constexpr double kSampleGap = 0.5;
constexpr double kColumnGap = 1.6;

}  // namespace

Legend::Legend(const Look& look, std::vector<LegendEntry> entries, const LegendRoom& room)
    : look_(look), entries_(std::move(entries)) {
  if (entries_.empty()) return;
  indented_ = choose_columns(room.width - room.indent);
  if (!indented_ && !choose_columns(room.width)) columns_ = {room.width};
  row_lines_.resize((entries_.size() + columns_.size() - 1) / columns_.size(), 1);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const FitRequest request{entries_[i].name, look_.small(), columns_[i % columns_.size()] - sample_width()};
    auto& lines = row_lines_[i / columns_.size()];
    lines = std::max(lines, wrap(look_.measure, request, kMostLines).size());
  }
}

double Legend::sample_width() const {
  return (kSample + kSampleGap) * look_.font;
}

std::vector<double> Legend::column_widths(size_t columns) const {
  std::vector<double> widths(columns);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const double width = look_.width(visible_text(entries_[i].name), look_.small()) + sample_width();
    widths[i % columns] = std::max(widths[i % columns], width);
  }
  return widths;
}

// As many columns as fit with their names whole.
bool Legend::choose_columns(double width) {
  for (size_t columns = entries_.size(); columns > 0; --columns) {
    columns_ = column_widths(columns);
    const double gaps = kColumnGap * look_.font * static_cast<double>(columns - 1);
    if (std::accumulate(columns_.begin(), columns_.end(), gaps) <= width) return true;
  }
  return false;
}

double Legend::height() const {
  const auto lines = std::accumulate(row_lines_.begin(), row_lines_.end(), size_t{0});
  return static_cast<double>(lines) * kLineHeight * look_.small().size;
}

void Legend::draw(const Rect& box, double indent, Scene& scene) const {
  if (entries_.empty()) return;
  const double left = box.x + (indented_ ? indent : 0);
  const double gap = kColumnGap * look_.font;
  const double width =
      std::accumulate(columns_.begin(), columns_.end(), gap * static_cast<double>(columns_.size() - 1));
  scene.areas.push_back({AreaKind::kLegend, {left, box.y, std::min(width, box.right() - left), height()}});
  const double line_height = kLineHeight * look_.small().size;
  double x = left, y = box.y;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const size_t row = i / columns_.size(), column = i % columns_.size();
    if (column == 0) x = left;
    if (column == 0 && row > 0) y += static_cast<double>(row_lines_[row - 1]) * line_height;
    const Rect sample{x, y + 0.1 * line_height, kSample * look_.font, 0.8 * line_height};
    if (entries_[i].draw) entries_[i].draw(sample, scene);
    const double text_x = x + (entries_[i].draw ? sample_width() : 0);
    // The room may have shrunk since the columns were chosen.
    const double room = std::min(columns_[column] - sample_width(), box.right() - text_x);
    double middle = y + line_height / 2;
    for (const auto& text : wrap(look_.measure, {entries_[i].name, look_.small(), room}, row_lines_[row])) {
      Label label{text, {text_x, middle}, Align::kStart, Align::kMiddle, false, look_.small()};
      label.role = TextRole::kLegend;
      add_label(scene, look_.measure, label);
      middle += line_height;
    }
    x += columns_[column] + gap;
  }
}

}  // namespace buoy::figure
