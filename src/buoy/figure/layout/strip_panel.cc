#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "buoy/figure/layout/panel_layout.h"
#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

constexpr double kSmallest = 6;         // points
constexpr double kRow = 1.55;           // height of a line, in sizes of the font
constexpr double kColorBarShare = 0.4;  // of the width that the colour bar takes, at least kLeastBar
constexpr double kLeastBar = 110;       // points, where there are so many
constexpr double kSpecialRoom = 0.4;    // on either side of a special token, in sizes of the font

bool is_blank(const std::string& text) {
  return text.find_first_not_of(' ') == std::string::npos;
}

// A token with its place in the text.
struct Placed {
  const Token* token = nullptr;
  std::string text;
  Rect box;  // from the text's own corner
};

class StripPanel : public PanelLayout {
 public:
  StripPanel(const Look& look, const TokenStrip& strip, const PanelPlan& plan)
      : look_(look), strip_(strip), scale_(*plan.scale), legend_(look, entries(), plan.legend) {
    if (plan.draws_color_bar) {
      bar_.emplace(look, ColorBar::Request{scale_, BarDirection::kRight, bar_length(plan.plot.width)});
    }
  }

  Insets insets() const override {
    Insets room;
    if (bar_) room.bottom += look_.font + bar_->depth();
    if (bar_) room.left = room.right = bar_->overhang();
    if (legend_.height() > 0) room.bottom += 0.5 * look_.font + legend_.height();
    return room;
  }

  double natural_height(double plot_width) const override {
    const auto placed = flow(look_.font, plot_width);
    return placed.back().box.bottom();
  }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    scene.areas.push_back({AreaKind::kPlot, plot});
    double size = look_.font;
    auto placed = flow(size, plot.width);
    while (placed.back().box.bottom() > plot.height + 1e-6 && size > kSmallest) {
      size = std::max(kSmallest, size - 0.5);
      placed = flow(size, plot.width);
    }
    const size_t shown = cut(placed, size, plot);
    for (size_t i = 0; i < shown; ++i) draw_token(placed[i], size, plot, scene);
    if (shown < placed.size()) draw_remark(placed.size() - shown, size, plot, scene);
    double y = plot.bottom() + look_.font;
    if (bar_) {
      bar_->draw({plot.x, y, bar_length(plot.width), bar_->depth()}, scene);
      y += bar_->depth() + 0.5 * look_.font;
    }
    legend_.draw({place.left, y, place.right - place.left, 0}, plot.x - place.left, scene);
  }

 private:
  double bar_length(double width) const {
    return std::min(width, std::max(kColorBarShare * width, kLeastBar * look_.unit()));
  }

  std::vector<LegendEntry> entries() const {
    const bool lacks = std::any_of(strip_.tokens.begin(), strip_.tokens.end(),
                                   [](const Token& token) { return std::isnan(token.value); });
    if (!lacks) return {};
    return {{"no data", [stroke = missing_stroke()](const Rect& box, Scene& scene) {
               scene.items.emplace_back(outlined(box, stroke));
             }}};
  }

  Stroke missing_stroke() const {
    return {look_.palette().grey, look_.hairline(), {1.2 * look_.unit(), 1.2 * look_.unit()}};
  }

  std::vector<Placed> flow(double size, double width) const {
    std::vector<Placed> placed;
    double x = 0, y = 0;
    for (const auto& token : strip_.tokens) {
      const TextStyle style{size, token.special};
      const double room = token.special ? 2 * kSpecialRoom * size : 0;
      const auto text = is_blank(token.text) ? visible_token(token.text) : visible_text(token.text);
      Placed next{&token, shorten(look_.measure, {text, style, width - room}), {}};
      // Tokens without any text keep a sliver, so that none is lost.
      const double wide = std::max(look_.width(next.text, style), 0.2 * size) + room;
      if (x > 0 && x + wide > width + 1e-6) {
        x = 0;
        y += kRow * size;
      }
      next.box = {x, y, wide, kRow * size};
      placed.push_back(std::move(next));
      x += wide;
      if (token.text.ends_with('\n')) {
        x = 0;
        y += kRow * size;
      }
    }
    return placed;
  }

  // Tokens to show: all, or those of the lines that leave one line for the remark.
  static size_t cut(const std::vector<Placed>& placed, double size, const Rect& plot) {
    if (placed.back().box.bottom() <= plot.height + 1e-6) return placed.size();
    size_t shown = 0;
    while (placed[shown].box.bottom() + kRow * size <= plot.height + 1e-6) ++shown;
    return shown;
  }

  void draw_remark(size_t hidden, double size, const Rect& plot, Scene& scene) const {
    const auto text = fmt::format("… {} more token{}", hidden, hidden == 1 ? "" : "s");
    Label label{shorten(look_.measure, {text, {size, false}, plot.width}),
                {plot.x, plot.bottom() - kRow * size / 2},
                Align::kStart,
                Align::kMiddle,
                false,
                {size, false},
                look_.palette().grey};
    label.role = TextRole::kToken;
    add_label(scene, look_.measure, label);
  }

  void draw_token(const Placed& placed, double size, const Rect& plot, Scene& scene) const {
    const double gap = 0.25 * look_.unit();  // a light line between neighbours
    const double beside = placed.token->special ? 0.12 * size : gap;
    const Rect box{plot.x + placed.box.x + beside, plot.y + placed.box.y + 2 * gap,
                   placed.box.width - 2 * beside, placed.box.height - 4 * gap};
    Color ink = look_.palette().ink;
    if (!std::isnan(placed.token->value)) {
      const Color background = scale_.color(placed.token->value);
      ink = readable_on(background);
      scene.items.emplace_back(filled(box, background));
    } else if (!placed.token->special) {
      scene.items.emplace_back(outlined(box, missing_stroke()));
    }
    if (placed.token->special) {
      Stroke frame{look_.palette().ink, 0.8 * look_.unit(), {}};
      if (std::isnan(placed.token->value)) frame.dash = missing_stroke().dash;
      scene.items.emplace_back(outlined(box, frame));
    }
    const double indent = placed.token->special ? kSpecialRoom * size : 0;
    Label label{placed.text,
                {plot.x + placed.box.x + indent, box.middle().y},
                Align::kStart,
                Align::kMiddle,
                false,
                {size, placed.token->special},
                ink};
    label.role = TextRole::kToken;
    add_label(scene, look_.measure, label);
  }

  Look look_;
  const TokenStrip& strip_;
  const ResolvedScale& scale_;
  Legend legend_;
  std::optional<ColorBar> bar_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_strip_panel(const Look& look, const TokenStrip& strip,
                                              const PanelPlan& plan) {
  return std::make_unique<StripPanel>(look, strip, plan);
}

}  // namespace buoy::figure
