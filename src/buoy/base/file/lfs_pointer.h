#pragma once

#include <string_view>

namespace buoy {

// Whether these are the first bytes of what Git LFS leaves in place of a file it has not fetched.
inline bool is_lfs_pointer(std::string_view bytes) {
  return bytes.starts_with("version https://git-lfs");
}

}  // namespace buoy
