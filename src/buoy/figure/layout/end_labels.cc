#include "buoy/figure/layout/end_labels.h"

#include <algorithm>
#include <cmath>

namespace buoy::figure {
namespace {

constexpr size_t kMostLabelLines = 2;
constexpr double kEndGap = 0.55;     // between plot and names, in sizes of the font
constexpr double kInkInNames = 0.4;  // pale colours are hard to read as text

Color towards(const Color& from, const Color& to, double share) {
  return {std::lerp(from.red, to.red, share), std::lerp(from.green, to.green, share),
          std::lerp(from.blue, to.blue, share)};
}

bool is_shortened(const std::vector<std::string>& lines) {
  return lines.empty() || lines.back().ends_with("…");
}

}  // namespace

EndLabels::EndLabels(const Look& look, std::vector<EndLabel> labels, double most_width)
    : look_(look), labels_(std::move(labels)) {
  std::stable_sort(labels_.begin(), labels_.end(),
                   [](const EndLabel& a, const EndLabel& b) { return a.at < b.at; });
  for (const auto& label : labels_) {
    lines_.push_back(wrap(look_.measure, {label.name, look_.small(), most_width}, kMostLabelLines));
    whole_ = whole_ && !is_shortened(lines_.back());
  }
}

double EndLabels::height(size_t label) const {
  return static_cast<double>(lines_[label].size()) * kLineHeight * look_.small().size;
}

// As near to the ends of the curves as names of their heights can stand (least squares: neighbours that would
// overlap form a block around the mean of what they want).
std::vector<double> EndLabels::middles(double plot_height) const {
  struct Block {
    double sum = 0;
    size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> below;  // of the first name's middle, where all stand close
  std::vector<Block> blocks;
  for (size_t i = 0; i < labels_.size(); ++i) {
    below.push_back(i == 0 ? 0 : below.back() + (height(i - 1) + height(i)) / 2);
    blocks.push_back({labels_[i].at * plot_height - below[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  std::vector<double> out;
  for (const auto& block : blocks) {
    for (size_t i = 0; i < block.count; ++i) out.push_back(block.mean() + below[out.size()]);
  }
  return out;
}

bool EndLabels::fit(double plot_height) const {
  const auto places = middles(plot_height);
  const double most = kLineHeight * look_.small().size;
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (std::abs(places[i] - labels_[i].at * plot_height) > most) return false;
  }
  return whole_;
}

double EndLabels::width() const {
  double widest = 0;
  for (const auto& lines : lines_) {
    for (const auto& text : lines) widest = std::max(widest, look_.width(text, look_.small()));
  }
  return labels_.empty() ? 0 : kEndGap * look_.font + widest;
}

double EndLabels::overhang(double plot_height) const {
  const auto places = middles(plot_height);
  double room = 0;
  for (size_t i = 0; i < labels_.size(); ++i)
    room = std::max({room, height(i) / 2 - places[i], places[i] + height(i) / 2 - plot_height});
  return room;
}

void EndLabels::draw(const Rect& plot, Scene& scene) const {
  const auto places = middles(plot.height);
  const double x = plot.right() + kEndGap * look_.font, line_height = kLineHeight * look_.small().size;
  for (size_t i = 0; i < labels_.size(); ++i) {
    const Color color = towards(labels_[i].color, look_.palette().ink, kInkInNames);
    const double end = plot.y + labels_[i].at * plot.height, middle = plot.y + places[i];
    if (std::abs(end - middle) > 0.25 * line_height) {
      scene.items.emplace_back(
          line({{plot.right(), end}, {x - look_.unit(), middle}}, {labels_[i].color, look_.hairline(), {}}));
    }
    double y = middle - height(i) / 2 + line_height / 2;
    for (const auto& text : lines_[i]) {
      Label label{text, {x, y}, Align::kStart, Align::kMiddle, false, look_.small(), color};
      label.role = TextRole::kEndLabel;
      add_label(scene, look_.measure, label);
      y += line_height;
    }
  }
}

}  // namespace buoy::figure
