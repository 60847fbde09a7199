#pragma once

#include <string>
#include <string_view>

namespace buoy {

std::string to_base64(std::string_view bytes);  // RFC 4648, with padding

}  // namespace buoy
