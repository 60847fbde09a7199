#pragma once

#include <string_view>

namespace buoy::report {

// A style or script that assets.txt names, such as "explorer.js". The build writes the definition
// (cmake/web_assets.cmake).
std::string_view web_asset(std::string_view name);

}  // namespace buoy::report
