#include <cairo-pdf.h>
#include <fmt/format.h>

#include <cmath>

#include "buoy/figure/draw/cairo_handle.h"
#include "buoy/figure/draw/draw_cairo.h"
#include "buoy/figure/draw/render.h"
#include "buoy/figure/draw/svg.h"
#include "buoy/figure/layout/layout.h"
#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

constexpr double kMostPixels = 30'000;  // across or down; Cairo cannot do more than 32767

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

void finish(cairo_surface_t* surface) {
  cairo_surface_finish(surface);
  require_success(cairo_surface_status(surface));
}

std::string png_of(const Image& image) {
  std::string bytes;
  require_success(cairo_surface_write_to_png_stream(make_surface(image).get(), append, &bytes));
  return bytes;
}

std::string render_pdf(const Scene& scene, const std::string& title) {
  const std::lock_guard lock(cairo_fonts());  // a document holds fonts until it is written
  std::string bytes;
  const CairoSurface surface(cairo_pdf_surface_create_for_stream(append, &bytes, scene.width, scene.height));
  // Otherwise the time of day would be in the file.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
  if (!title.empty()) {
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, visible_text(title).c_str());
  }
  draw_scene(scene, CairoContext(cairo_create(surface.get())).get());
  finish(surface.get());
  return bytes;
}

std::string render_png(const Scene& scene, double dpi) {
  const double scale = dpi / 72;
  const double width = std::ceil(scene.width * scale), height = std::ceil(scene.height * scale);
  if (width > kMostPixels || height > kMostPixels) {
    throw_usage_error({"figure: png_dpi", fmt::format("at most {} pixels a side", kMostPixels),
                       fmt::format("{} x {}", width, height)});
  }
  const CairoSurface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  {
    const std::lock_guard lock(cairo_fonts());
    const CairoContext context(cairo_create(surface.get()));
    cairo_scale(context.get(), scale, scale);
    draw_scene(scene, context.get());
  }
  std::string bytes;
  require_success(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

}  // namespace

bool can_render() {
  return true;
}

std::string render(const Figure& figure, Format format, Theme theme) {
  const Scene scene = lay_out(figure, *make_text_measure(), theme);
  switch (format) {
    case Format::kSvg:
      return svg_of(scene, figure.title, png_of);
    case Format::kPdf:
      return render_pdf(scene, figure.title);
    case Format::kPng:
      return render_png(scene, figure.png_dpi);
  }
  throw InternalError("render: no such format");
}

}  // namespace buoy::figure
