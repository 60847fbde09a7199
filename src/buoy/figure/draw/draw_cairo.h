#pragma once

#include <cairo.h>

#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// Draws on the scene's page; the context's unit must be a point.
void draw_scene(const Scene& scene, cairo_t* context);

}  // namespace buoy::figure
