#include "buoy/base/error.h"
#include "buoy/figure/draw/render.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {
namespace {

[[noreturn]] void refuse() {
  throw_usage_error(
      {"figures", "a build with Cairo: install libcairo2-dev and configure again", "a build without"});
}

}  // namespace

bool can_render() {
  return false;
}

std::string render(const Figure&, Format, Theme) {
  refuse();
}

std::unique_ptr<TextMeasure> make_text_measure() {
  refuse();
}

}  // namespace buoy::figure
