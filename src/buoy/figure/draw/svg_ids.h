#pragma once

#include <string>

namespace buoy::figure {

// Cairo numbers some elements by how many surfaces the process has made before; here each name is numbered
// by its first appearance in the file instead.
std::string renumber_svg_ids(const std::string& svg);

}  // namespace buoy::figure
