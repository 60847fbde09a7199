#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/figure/chart/figure.h"

namespace buoy::figure {

enum class Format { kSvg, kPdf, kPng };

// False in a build without Cairo, where the functions below throw UsageError.
bool can_render();

// The file as bytes: equal figures give equal bytes with the same Cairo and the same DejaVu Sans. PDF
// embeds the font; SVG holds texts as text, of fixed width whatever font the reader has. Files take
// Theme::kPaper; kDark is for dark screens.
std::string render(const Figure& figure, Format format, Theme theme = Theme::kPaper);

// Writes `path` + ".svg", ".pdf", ".png"; none of them when one cannot be rendered.
void write_figure(const Figure& figure, const std::filesystem::path& path,
                  const std::vector<Format>& formats);

}  // namespace buoy::figure
