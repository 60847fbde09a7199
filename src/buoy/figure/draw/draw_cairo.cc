#include "buoy/figure/draw/draw_cairo.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace buoy::figure {
namespace {

class Painter {
 public:
  explicit Painter(cairo_t* context) : context_(context) {}

  void operator()(const Shape& shape) const {
    cairo_save(context_);
    if (shape.clip) {
      cairo_rectangle(context_, shape.clip->x, shape.clip->y, shape.clip->width, shape.clip->height);
      cairo_clip(context_);
    }
    for (const auto& line : shape.lines) {
      for (size_t i = 0; i < line.size(); ++i) {
        (i == 0 ? cairo_move_to : cairo_line_to)(context_, line[i].x, line[i].y);
      }
      if (shape.closed) cairo_close_path(context_);
    }
    for (const auto& circle : shape.circles) {
      cairo_new_sub_path(context_);
      cairo_arc(context_, circle.middle.x, circle.middle.y, circle.radius, 0, 2 * std::numbers::pi);
      cairo_close_path(context_);
    }
    if (shape.fill) {
      cairo_set_source_rgba(context_, shape.fill->red, shape.fill->green, shape.fill->blue, shape.opacity);
      cairo_fill_preserve(context_);
    }
    if (shape.stroke) stroke(*shape.stroke);
    cairo_new_path(context_);
    cairo_restore(context_);
  }

  void operator()(const Image& image) const {
    const CairoSurface surface = make_surface(image);
    const double across = image.box.width / image.columns, down = image.box.height / image.rows;
    double device_across = across, device_down = down;
    cairo_user_to_device_distance(context_, &device_across, &device_down);
    cairo_save(context_);
    cairo_rectangle(context_, image.box.x, image.box.y, image.box.width, image.box.height);
    cairo_clip(context_);
    cairo_translate(context_, image.box.x, image.box.y);
    cairo_scale(context_, across, down);
    cairo_set_source_surface(context_, surface.get(), 0, 0);
    // Cells smaller than a pixel are averaged: the nearest one would make whole columns vanish. Vector files
    // hold the image as it is.
    const bool shrinks = cairo_surface_get_type(cairo_get_target(context_)) == CAIRO_SURFACE_TYPE_IMAGE &&
                         (device_across < 1 || device_down < 1);
    cairo_pattern_set_filter(cairo_get_source(context_), shrinks ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
    cairo_pattern_set_extend(cairo_get_source(context_), CAIRO_EXTEND_PAD);
    cairo_paint(context_);
    cairo_restore(context_);
  }

  void operator()(const Text& text) const {
    cairo_save(context_);
    select_font(context_, text.style);
    cairo_set_source_rgb(context_, text.color.red, text.color.green, text.color.blue);
    cairo_move_to(context_, text.at.x, text.at.y);
    if (text.upward) cairo_rotate(context_, -std::numbers::pi / 2);
    cairo_show_text(context_, text.text.c_str());
    cairo_new_path(context_);
    cairo_restore(context_);
  }

 private:
  void stroke(const Stroke& stroke) const {
    cairo_set_source_rgb(context_, stroke.color.red, stroke.color.green, stroke.color.blue);
    cairo_set_line_width(context_, stroke.width);
    cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(context_, stroke.dash.empty() ? CAIRO_LINE_CAP_SQUARE : CAIRO_LINE_CAP_BUTT);
    cairo_set_dash(context_, stroke.dash.data(), static_cast<int>(stroke.dash.size()), 0);
    cairo_stroke_preserve(context_);
  }

  cairo_t* context_;
};

}  // namespace

CairoSurface make_surface(const Image& image) {
  bool clear = false;
  for (const auto pixel : image.pixels) clear |= pixel == 0;
  const auto format = clear ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24;
  CairoSurface surface(cairo_image_surface_create(format, image.columns, image.rows));
  require_success(cairo_surface_status(surface.get()));
  cairo_surface_flush(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  const auto stride = static_cast<size_t>(cairo_image_surface_get_stride(surface.get()));
  const auto columns = static_cast<size_t>(image.columns);
  for (size_t row = 0; row < static_cast<size_t>(image.rows); ++row) {
    std::memcpy(data + row * stride, image.pixels.data() + row * columns, columns * sizeof(std::uint32_t));
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

void draw_scene(const Scene& scene, cairo_t* context) {
  cairo_set_source_rgb(context, scene.page.red, scene.page.green, scene.page.blue);
  cairo_paint(context);
  for (const auto& item : scene.items) std::visit(Painter(context), item);
  require_success(cairo_status(context));
}

}  // namespace buoy::figure
