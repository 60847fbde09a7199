#include "buoy/figure/draw/render.h"

#include "buoy/base/file/files.h"

namespace buoy::figure {
namespace {

const char* extension_of(Format format) {
  switch (format) {
    case Format::kSvg:
      return ".svg";
    case Format::kPdf:
      return ".pdf";
    case Format::kPng:
      return ".png";
  }
  return "";
}

}  // namespace

void write_figure(const Figure& figure, const std::filesystem::path& path,
                  const std::vector<Format>& formats) {
  std::vector<std::string> files;
  files.reserve(formats.size());
  for (const auto format : formats) files.push_back(render(figure, format));
  for (size_t i = 0; i < formats.size(); ++i) {
    auto file = path;
    file += extension_of(formats[i]);  // not replace_extension: "layer0.5" keeps its name
    write_file_atomically(file, files[i]);
  }
}

}  // namespace buoy::figure
