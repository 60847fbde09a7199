#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::figure {

struct TextStyle {
  double size = 8;  // points
  bool bold = false;
};

// How wide text comes out. Layout asks nothing else of a font: heights are the fixed shares below.
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  virtual double width(const std::string& text, const TextStyle& style) const = 0;  // points
};

// Of the font that render() draws with. Throws UsageError in a build without Cairo.
std::unique_ptr<TextMeasure> make_text_measure();

// Of the size: from the baseline up and down, and to the middle of digits and capitals.
inline constexpr double kAscent = 0.80;
inline constexpr double kDescent = 0.22;
inline constexpr double kMiddleHeight = 0.36;
inline constexpr double kLineHeight = 1.25;

// The longest beginning that fits, with an ellipsis when that is not all; made visible (visible_text.h).
struct FitRequest {
  std::string_view text;
  TextStyle style;
  double width = 0;
};
std::string shorten(const TextMeasure& measure, const FitRequest& request);

// Lines broken at spaces, at most `most`; what does not fit ends in an ellipsis. None of empty text.
std::vector<std::string> wrap(const TextMeasure& measure, const FitRequest& request, size_t most);

}  // namespace buoy::figure
