#pragma once

#include <cstddef>

namespace buoy::figure {

// sRGB, each channel from 0 to 1.
struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;

  bool operator==(const Color&) const = default;
};

inline constexpr Color kBlack{0, 0, 0};
inline constexpr Color kWhite{1, 1, 1};
inline constexpr Color kGrey{0.45, 0.45, 0.45};
inline constexpr Color kLightGrey{0.75, 0.75, 0.75};

// Paper is white; a dark screen takes the colours of the report's dark page.
enum class Theme { kPaper, kDark };

// What is not data.
struct Palette {
  Color page, ink, grey, light_grey;
};
const Palette& palette_of(Theme theme);

// All are safe for colour-blind readers and monotone in lightness, the diverging one on either side.
enum class ColorMap {
  kViridis,           // dark purple to yellow
  kBlues,             // white to dark blue: for print
  kBlueOrange,        // blue, white, orange: for values on both sides of a centre
  kBluesOnDark,       // the page's dark to light blue
  kBlueOrangeOnDark,  // light blue, the page's dark, light orange
};

Color sample(ColorMap map, double position);  // position is held to [0, 1]

// The map that says the same on a page of that theme: what is next to nothing looks like the page.
ColorMap themed(ColorMap map, Theme theme);

// Okabe and Ito's palette, in lighter tones of the same hues on dark; repeats after seven.
size_t series_color_count();  // beyond it colours come round again
Color series_color(size_t index, Theme theme = Theme::kPaper);

// Relative luminance as in WCAG 2: black 0, white 1.
double luminance(const Color& color);

// Black or white, whichever stands out more.
Color readable_on(const Color& background);

}  // namespace buoy::figure
