#pragma once

#include <cairo.h>

#include <memory>
#include <mutex>
#include <string>

#include "buoy/base/error.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {

struct CairoDeleter {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
using CairoContext = std::unique_ptr<cairo_t, CairoDeleter>;
using CairoSurface = std::unique_ptr<cairo_surface_t, CairoDeleter>;
using CairoFontOptions = std::unique_ptr<cairo_font_options_t, CairoDeleter>;

inline void require_success(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw InternalError(std::string("Cairo: ") + cairo_status_to_string(status));
}

// Cairo keeps fonts and glyphs of all threads in one place, and now and then aborts when two of them draw
// text (its assertion on cache_frozen). Whoever may touch a font holds this.
inline std::mutex& cairo_fonts() {
  static std::mutex mutex;
  return mutex;
}

// The same font everywhere, unhinted: widths then do not depend on the resolution.
void select_font(cairo_t* context, const TextStyle& style);

}  // namespace buoy::figure
