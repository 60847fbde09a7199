#include "buoy/figure/chart/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace buoy::figure {
namespace {

// Maps are interpolated in Oklab (Ottosson 2020), where equal steps look equal.
struct Lab {
  double l, a, b;
};

double to_linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double from_linear(double channel) {
  const double held = std::clamp(channel, 0.0, 1.0);
  return held <= 0.0031308 ? held * 12.92 : 1.055 * std::pow(held, 1 / 2.4) - 0.055;
}

constexpr Color from_hex(std::uint32_t hex) {
  return {(hex >> 16 & 0xff) / 255.0, (hex >> 8 & 0xff) / 255.0, (hex & 0xff) / 255.0};
}

Lab to_lab(const Color& color) {
  const double r = to_linear(color.red), g = to_linear(color.green), b = to_linear(color.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Color to_color(const Lab& lab) {
  const double l = std::pow(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return {from_linear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          from_linear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          from_linear(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

// Nine colours at equal distances along van der Walt and Smith's viridis (2015, CC0).
constexpr std::array<std::uint32_t, 9> kViridisAnchors = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                                          0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};

Color viridis(double position) {
  const double scaled = position * (kViridisAnchors.size() - 1);
  const size_t below = std::min<size_t>(static_cast<size_t>(scaled), kViridisAnchors.size() - 2);
  const double share = scaled - static_cast<double>(below);
  static const auto anchors = [] {
    std::array<Lab, kViridisAnchors.size()> labs{};
    std::ranges::transform(kViridisAnchors, labs.begin(),
                           [](std::uint32_t hex) { return to_lab(from_hex(hex)); });
    return labs;
  }();
  const Lab &from = anchors[below], &to = anchors[below + 1];
  return to_color(
      {std::lerp(from.l, to.l, share), std::lerp(from.a, to.a, share), std::lerp(from.b, to.b, share)});
}

// Straight from white (0) to a dark tone (1) of one hue, most colourful past the middle.
struct Ramp {
  double hue_degrees, darkest, chroma;
};

Color shade(const Ramp& ramp, double depth) {
  const double hue = ramp.hue_degrees * std::numbers::pi / 180;
  const double chroma = ramp.chroma * std::sin(depth * 0.72 * std::numbers::pi);
  return to_color({std::lerp(0.985, ramp.darkest, depth), chroma * std::cos(hue), chroma * std::sin(hue)});
}

// The order keeps neighbours far apart; yellow is left out, it is too pale for lines on white.
constexpr std::array<std::uint32_t, 7> kOkabeIto = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                    0xe69f00, 0x56b4e9, 0x000000};
constexpr std::array<std::uint32_t, 7> kOnDark = {0x4da3e0, 0xf5813d, 0x2cc295, 0xe5a0c8,
                                                  0xf2bd3f, 0xa6dcfa, 0xe8eaed};

constexpr Palette kPaperPalette{kWhite, kBlack, kGrey, kLightGrey};
// As in src/buoy/report/web/page.css.
constexpr Palette kDarkPalette{from_hex(0x14171c), from_hex(0xe8eaed), from_hex(0xa3abb6),
                               from_hex(0x59616c)};

// From the dark page (0) to a light tone (1) of one hue.
Color glow(double hue_degrees, double depth) {
  const double hue = hue_degrees * std::numbers::pi / 180;
  const double chroma = 0.13 * std::sin(depth * 0.78 * std::numbers::pi);
  return to_color({std::lerp(0.235, 0.9, depth), chroma * std::cos(hue), chroma * std::sin(hue)});
}

}  // namespace

Color sample(ColorMap map, double position) {
  const double held = std::clamp(position, 0.0, 1.0);
  switch (map) {
    case ColorMap::kViridis:
      return viridis(held);
    case ColorMap::kBlues:
      return shade({255, 0.28, 0.125}, held);
    case ColorMap::kBlueOrange:
      return held < 0.5 ? shade({255, 0.45, 0.145}, 1 - 2 * held) : shade({42, 0.45, 0.155}, 2 * held - 1);
    case ColorMap::kBluesOnDark:
      return glow(255, held);
    case ColorMap::kBlueOrangeOnDark:
      return held < 0.5 ? glow(255, 1 - 2 * held) : glow(55, 2 * held - 1);
  }
  return kBlack;
}

ColorMap themed(ColorMap map, Theme theme) {
  if (theme == Theme::kPaper) return map;
  if (map == ColorMap::kBlues) return ColorMap::kBluesOnDark;
  return map == ColorMap::kBlueOrange ? ColorMap::kBlueOrangeOnDark : map;
}

const Palette& palette_of(Theme theme) {
  return theme == Theme::kPaper ? kPaperPalette : kDarkPalette;
}

size_t series_color_count() {
  return kOkabeIto.size();
}

Color series_color(size_t index, Theme theme) {
  return from_hex((theme == Theme::kPaper ? kOkabeIto : kOnDark)[index % kOkabeIto.size()]);
}

double luminance(const Color& color) {
  return 0.2126 * to_linear(color.red) + 0.7152 * to_linear(color.green) + 0.0722 * to_linear(color.blue);
}

Color readable_on(const Color& background) {
  const double light = luminance(background);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? kBlack : kWhite;
}

}  // namespace buoy::figure
