#include "buoy/base/say.h"

#include <cstdio>

namespace buoy {

void say_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::clearerr(stderr);
}

}  // namespace buoy
