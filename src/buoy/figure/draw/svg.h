#pragma once

#include <functional>
#include <string>

#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// The scene as SVG, its texts as text: they can be searched, read aloud and edited. Each keeps the width it
// was laid out with where another font stands in for DejaVu Sans. `png_of` gives the bytes of an image.
std::string svg_of(const Scene& scene, const std::string& title,
                   const std::function<std::string(const Image&)>& png_of);

}  // namespace buoy::figure
