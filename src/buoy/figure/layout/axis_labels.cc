#include "buoy/figure/layout/axis_labels.h"

#include <cmath>

#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

bool is_cut(const std::vector<std::string>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line.ends_with("…"); });
}

// 1, 2, 3 .. 10, 20, 50, 100, 200..
size_t next_stride(size_t stride) {
  if (stride < 10) return stride + 1;
  size_t unit = 1;
  while (unit * 10 <= stride) unit *= 10;
  return unit * (stride / unit == 1 ? 2 : stride / unit == 2 ? 5 : 10);
}

}  // namespace

AxisLabels::AxisLabels(const Look& look, AxisRequest request) : look_(look), request_(std::move(request)) {
  for (const auto& tick : request_.ticks) {
    lines_.push_back({shorten(look_.measure, {tick.text, look_.small(), request_.most_depth})});
    widths_.push_back(look_.width(lines_.back()[0], look_.small()));
  }
  turned_ = request_.may_turn && !fits() && !wrap_labels();
  const double height = (kAscent + kDescent) * look_.small().size;
  const double widest = widths_.empty() ? 0 : *std::max_element(widths_.begin(), widths_.end());
  size_t most_lines = 1;
  for (const auto& lines : lines_) most_lines = std::max(most_lines, lines.size());
  const bool upright = request_.side == Side::kBottom && !turned_;
  label_depth_ = widths_.empty() ? 0
                 : upright ? height + static_cast<double>(most_lines - 1) * kLineHeight * look_.small().size
                           : widest;
  long_title_ = is_cut(title_lines(request_.length, kTitleLines));
  title_lines_ = title_lines(request_.length, kTitleLines).size();
}

bool AxisLabels::wrap_labels() {
  constexpr size_t kMostLines = 3;
  const auto& ticks = request_.ticks;
  double room = request_.length;
  for (size_t i = 1; i < ticks.size(); ++i)
    room = std::min(room, std::abs(ticks[i].at - ticks[i - 1].at) * request_.length - 0.6 * look_.font);
  std::vector<std::vector<std::string>> lines;
  std::vector<double> widths;
  for (const auto& tick : ticks) {
    lines.push_back(wrap(look_.measure, {tick.text, look_.small(), room}, kMostLines));
    if (is_cut(lines.back())) return false;
    widths.push_back(0);
    for (const auto& line : lines.back())
      widths.back() = std::max(widths.back(), look_.width(line, look_.small()));
    if (widths.back() > room) return false;
  }
  lines_ = std::move(lines);
  widths_ = std::move(widths);
  return true;
}

std::vector<std::string> AxisLabels::title_lines(double length, size_t most) const {
  const double room = length + (long_title_ ? request_.spare : 0);
  return wrap(look_.measure, {request_.title, look_.body(), room}, most);
}

double AxisLabels::extent(size_t tick) const {
  const bool across = request_.side != Side::kBottom || turned_;
  return across ? (kAscent + kDescent) * look_.small().size : widths_[tick];
}

double AxisLabels::depth() const {
  const double labels = request_.ticks.empty() ? 0 : label_gap() + label_depth_;
  const double title = static_cast<double>(title_lines_) * kLineHeight * look_.font;
  return labels + (title > 0 ? title + 0.3 * look_.font : 0);
}

double AxisLabels::overhang() const {
  double most = 0;
  for (size_t i = 0; i < widths_.size(); ++i) {
    const double to_end = std::min(request_.ticks[i].at, 1 - request_.ticks[i].at) * request_.length;
    most = std::max(most, (kMiddleHeight + kDescent + 0.02) / (kAscent + kDescent) * extent(i) - to_end);
  }
  return most;
}

bool AxisLabels::collide(size_t one, size_t other, double length) const {
  const bool side_by_side = request_.side == Side::kBottom && !turned_;
  const double gap = look_.font * (side_by_side ? 0.6 : 0.06);
  const double distance = std::abs(request_.ticks[one].at - request_.ticks[other].at) * length;
  return distance < (extent(one) + extent(other)) / 2 + gap;
}

// Every label, or every second, every third..: the first choice without a collision; at worst the first
// label.
std::vector<size_t> AxisLabels::shown(double length) const {
  std::vector<size_t> kept;
  for (size_t i = 0; i < widths_.size(); ++i) {
    if (request_.ticks[i].keep) kept.push_back(i);
  }
  for (size_t stride = 1; stride <= widths_.size(); stride = next_stride(stride)) {
    std::vector<size_t> chosen;
    bool clear = true;
    for (size_t i = 0; i < widths_.size() && clear; i += stride) {
      const bool covered = request_.ticks[i].keep || std::any_of(kept.begin(), kept.end(), [&](size_t other) {
                             return collide(i, other, length);
                           });
      if (covered) continue;
      clear = chosen.empty() || !collide(chosen.back(), i, length);
      chosen.push_back(i);
    }
    if (!clear) continue;
    chosen.insert(chosen.end(), kept.begin(), kept.end());
    return chosen;
  }
  if (kept.empty() && !widths_.empty()) kept.push_back(0);
  return kept;
}

void AxisLabels::draw(const Rect& plot, Scene& scene) const {
  const bool below = request_.side == Side::kBottom;
  const bool left = request_.side == Side::kLeft;
  const double edge = left ? plot.x : plot.right();
  const double outward = left ? -1 : 1;
  Shape marks;
  marks.stroke = Stroke{look_.palette().ink, look_.hairline(), {}};
  for (const size_t i : shown(below ? plot.width : plot.height)) {
    const double x = plot.x + request_.ticks[i].at * plot.width;
    const double y = plot.y + request_.ticks[i].at * plot.height;
    Label label{lines_[i][0],
                {edge + outward * label_gap(), y},
                left ? Align::kEnd : Align::kStart,
                Align::kMiddle,
                turned_,
                look_.small()};
    if (below) {
      label.at = {x, plot.bottom() + label_gap()};
      label.along = turned_ ? Align::kEnd : Align::kMiddle;
      label.across = turned_ ? Align::kMiddle : Align::kStart;
      marks.lines.push_back({{x, plot.bottom()}, {x, plot.bottom() + look_.tick()}});
    } else {
      marks.lines.push_back({{edge, y}, {edge + outward * look_.tick(), y}});
    }
    for (const auto& line : lines_[i]) {
      label.text = line;
      add_label(scene, look_.measure, label);
      label.at.y += kLineHeight * look_.small().size;
    }
  }
  scene.items.emplace_back(std::move(marks));
  draw_title(plot, scene);
}

void AxisLabels::draw_title(const Rect& plot, Scene& scene) const {
  const bool below = request_.side == Side::kBottom;
  const double length = below ? plot.width : plot.height;
  const auto lines = title_lines(length, title_lines_);
  const double step = kLineHeight * look_.font;
  for (size_t i = 0; i < lines.size(); ++i) {
    const double offset = depth() - static_cast<double>(title_lines_ - i) * step;
    Label label{lines[i], plot.middle(), Align::kMiddle, Align::kStart, !below, look_.body()};
    if (below) label.at.y = plot.bottom() + offset;
    if (!below && long_title_) label.at.y += request_.spare / 2;
    // Upward text begins on the left whichever side it is on.
    if (request_.side == Side::kRight) label.at.x = plot.right() + offset;
    if (request_.side == Side::kLeft) label.at.x = plot.x - depth() + static_cast<double>(i) * step;
    label.role = TextRole::kAxisTitle;
    add_label(scene, look_.measure, label);
  }
}

double NumberAxis::at(double value) const {
  const double share = log ? std::log(value / range.low) / std::log(range.high / range.low)
                           : (value - range.low) / (range.high - range.low);
  return side == Side::kBottom ? share : 1 - share;
}

AxisLabels number_labels(const Look& look, const NumberAxis& axis) {
  const bool below = axis.side == Side::kBottom;
  const double spacing = 2 * look.font;
  for (int most = std::clamp(static_cast<int>(axis.length / spacing), 3, below ? 9 : 7);; --most) {
    AxisRequest request{axis.side, axis.title, {}, axis.length, 30 * look.font, axis.spare, false};
    for (const auto& tick :
         axis.log ? log_ticks(axis.range, most) : linear_ticks(axis.range, most, axis.step)) {
      request.ticks.push_back({axis.at(tick.value), tick.label});
    }
    AxisLabels labels(look, std::move(request));
    if (most == 1 || labels.fits()) return labels;
  }
}

AxisLabels cell_labels(const Look& look, const CellLabels& cells) {
  AxisRequest request{cells.side, cells.axis.title, {}, cells.length, cells.most_depth, cells.spare, false};
  const auto add = [&](size_t cell, std::string text) {
    const double at = (static_cast<double>(cell) + 0.5) / static_cast<double>(cells.count);
    request.ticks.push_back({cells.from_bottom ? 1 - at : at, std::move(text)});
  };
  if (!cells.axis.names.empty()) {
    for (size_t i = 0; i < cells.count; ++i) add(i, visible_token(cells.axis.names[i]));
    request.may_turn = cells.side == Side::kBottom;
    return AxisLabels(look, std::move(request));
  }
  const double last = cells.axis.first + cells.axis.step * static_cast<double>(cells.count - 1);
  const Range range{std::min(cells.axis.first, last), std::max(cells.axis.first, last)};
  const bool whole =
      cells.axis.first == std::floor(cells.axis.first) && cells.axis.step == std::floor(cells.axis.step);
  // Few cells: each of them has its number. Many: round numbers, as far as they are numbers of cells.
  for (int most = 17; most >= 1; --most) {
    request.ticks.clear();
    for (const auto& tick : linear_ticks(range, most, whole ? TickStep::kWhole : TickStep::kAny)) {
      const double cell = (tick.value - cells.axis.first) / cells.axis.step;
      if (std::abs(cell - std::round(cell)) < 1e-6) add(static_cast<size_t>(std::lround(cell)), tick.label);
    }
    if (AxisLabels labels(look, request); labels.fits()) return labels;
  }
  return AxisLabels(look, std::move(request));
}

}  // namespace buoy::figure
