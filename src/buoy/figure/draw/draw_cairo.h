#pragma once

#include <cairo.h>

#include "buoy/figure/draw/cairo_handle.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// The cells of an image, a pixel each.
CairoSurface make_surface(const Image& image);

// Draws on the scene's page; the context's unit must be a point.
void draw_scene(const Scene& scene, cairo_t* context);

}  // namespace buoy::figure
