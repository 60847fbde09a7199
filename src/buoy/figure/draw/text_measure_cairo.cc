#include <algorithm>

#include "buoy/figure/draw/cairo_handle.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {
namespace {

class CairoTextMeasure : public TextMeasure {
 public:
  CairoTextMeasure()
      : surface_(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr)),
        context_(cairo_create(surface_.get())) {
    require_success(cairo_status(context_.get()));
  }
  ~CairoTextMeasure() override {
    const std::lock_guard lock(cairo_fonts());
    context_.reset();
  }

  double width(const std::string& text, const TextStyle& style) const override {
    const std::lock_guard lock(cairo_fonts());
    select_font(context_.get(), style);
    cairo_text_extents_t extents;
    cairo_text_extents(context_.get(), text.c_str(), &extents);
    require_success(cairo_status(context_.get()));
    // Slanted and accented letters may reach past their advance.
    return std::max(extents.x_advance, extents.x_bearing + extents.width);
  }

 private:
  CairoSurface surface_;
  CairoContext context_;
};

}  // namespace

void select_font(cairo_t* context, const TextStyle& style) {
  cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
  const CairoFontOptions options(cairo_font_options_create());
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context, options.get());
}

std::unique_ptr<TextMeasure> make_text_measure() {
  return std::make_unique<CairoTextMeasure>();
}

}  // namespace buoy::figure
