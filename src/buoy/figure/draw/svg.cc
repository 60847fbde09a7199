#include "buoy/figure/draw/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "buoy/base/base64.h"
#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

bool has_outer_or_double_spaces(const std::string& text) {
  return text.starts_with(' ') || text.ends_with(' ') || text.find("  ") != std::string::npos;
}

// A hundredth of a point is a third of a dot at 2,400 dots per inch.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string hex(const Color& color) {
  const auto channel = [](double value) { return static_cast<int>(std::lround(255 * value)); };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(color.red), channel(color.green), channel(color.blue));
}

std::string rect_of(const Rect& rect) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(rect.x), number(rect.y),
                     number(rect.width), number(rect.height));
}

class SvgWriter {
 public:
  explicit SvgWriter(const std::function<std::string(const Image&)>& png_of) : png_of_(png_of) {}

  void operator()(const Shape& shape) {
    std::string path;
    for (const auto& line : shape.lines) {
      for (size_t i = 0; i < line.size(); ++i)
        path += fmt::format("{}{} {}", i == 0 ? 'M' : 'L', number(line[i].x), number(line[i].y));
      if (shape.closed && !line.empty()) path += 'Z';
    }
    if (path.empty() && shape.circles.empty()) return;
    std::string look = fmt::format(" fill=\"{}\"", shape.fill ? hex(*shape.fill) : "none");
    if (shape.fill && shape.opacity < 1) look += fmt::format(" fill-opacity=\"{}\"", number(shape.opacity));
    if (shape.stroke) look += stroke_of(*shape.stroke, !path.empty());
    if (shape.clip) look += fmt::format(" clip-path=\"url(#{})\"", clip_id(*shape.clip));
    if (!path.empty()) add(look, {fmt::format("path d=\"{}\"", path), "/>"});
    for (const auto& [middle, radius] : shape.circles)
      add(look, {fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(middle.x), number(middle.y),
                             number(radius)),
                 "/>"});
  }

  void operator()(const Image& image) {
    close_group();
    body_ += fmt::format(
        "<image {} preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" "
        "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>\n",
        rect_of(image.box), to_base64(png_of_(image)));
  }

  void operator()(const Text& text) {
    if (text.text.empty()) return;
    std::string look = fmt::format(" font-size=\"{}\" fill=\"{}\"", number(text.style.size), hex(text.color));
    if (text.style.bold) look += " font-weight=\"bold\"";
    std::string one = fmt::format("text x=\"{}\" y=\"{}\"", number(text.at.x), number(text.at.y));
    // Browsers let no text inherit it.
    if (has_outer_or_double_spaces(text.text)) one += " xml:space=\"preserve\"";
    if (text.upward)
      one += fmt::format(" transform=\"rotate(-90 {} {})\"", number(text.at.x), number(text.at.y));
    if (character_size(text.text, 0) < text.text.size())
      one += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                         number(text.upward ? text.box.height : text.box.width));
    add(look, {std::move(one), fmt::format(">{}</text>", escaped(text.text))});
  }

  const std::string& body() {
    close_group();
    return body_;
  }
  std::string clips() const {
    return clip_paths_.empty() ? "" : fmt::format("<defs>\n{}</defs>\n", clip_paths_);
  }

 private:
  static std::string stroke_of(const Stroke& stroke, bool has_ends) {
    std::string out =
        fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", hex(stroke.color), number(stroke.width));
    if (has_ends)
      out += fmt::format(" stroke-linejoin=\"round\" stroke-linecap=\"{}\"",
                         stroke.dash.empty() ? "square" : "butt");
    if (stroke.dash.empty()) return out;
    std::string dashes;
    for (const double length : stroke.dash) dashes += (dashes.empty() ? "" : ",") + number(length);
    return out + fmt::format(" stroke-dasharray=\"{}\"", dashes);
  }

  // An element around the attributes that say how it looks.
  struct Element {
    std::string head, tail;
  };
  // What is drawn one after the other and looks alike says how once.
  void add(const std::string& look, Element element) {
    if (look != look_) close_group();
    look_ = look;
    group_.push_back(std::move(element));
  }
  void close_group() {
    const bool several = group_.size() > 1;
    if (several) body_ += fmt::format("<g{}>\n", look_);
    for (const auto& [head, tail] : group_)
      body_ += fmt::format("<{}{}{}\n", head, several ? "" : look_, tail);
    if (several) body_ += "</g>\n";
    group_.clear();
  }

  std::string clip_id(const Rect& rect) {
    const auto [at, is_new] = clip_ids_.try_emplace({rect.x, rect.y, rect.width, rect.height},
                                                    fmt::format("clip{}", clip_ids_.size()));
    if (is_new)
      clip_paths_ += fmt::format("<clipPath id=\"{}\"><rect {}/></clipPath>\n", at->second, rect_of(rect));
    return at->second;
  }

  const std::function<std::string(const Image&)>& png_of_;
  std::map<std::tuple<double, double, double, double>, std::string> clip_ids_;
  std::string clip_paths_, body_;
  std::string look_;  // of the elements that wait
  std::vector<Element> group_;
};

}  // namespace

std::string svg_of(const Scene& scene, const std::string& title,
                   const std::function<std::string(const Image&)>& png_of) {
  SvgWriter writer(png_of);
  for (const auto& item : scene.items) std::visit([&](const auto& drawn) { writer(drawn); }, item);
  const std::string width = number(scene.width), height = number(scene.height);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" "
      "width=\"{0}pt\" height=\"{1}pt\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n",
      width, height);
  if (!title.empty()) out += fmt::format("<title>{}</title>\n", escaped(visible_text(title)));
  out += writer.clips();
  out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", width, height, hex(scene.page));
  return out + writer.body() + "</svg>\n";
}

}  // namespace buoy::figure
