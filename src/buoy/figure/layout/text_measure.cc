#include "buoy/figure/layout/text_measure.h"

#include "buoy/figure/layout/visible_text.h"

namespace buoy::figure {
namespace {

constexpr const char* kEllipsis = "…";
constexpr double kSlack = 1e-6;

std::string shorten_visible(const TextMeasure& measure, const std::string& text, const FitRequest& request) {
  const auto fits = [&](const std::string& part) {
    return measure.width(part, request.style) <= request.width + kSlack;
  };
  if (fits(text)) return text;
  std::vector<size_t> ends = {0};
  for (size_t at = 0; at < text.size();) ends.push_back(at += character_size(text, at));
  size_t fitting = 0, beyond = ends.size() - 1;  // characters kept; all of them do not fit
  while (beyond - fitting > 1) {
    const size_t half = (fitting + beyond) / 2;
    (fits(text.substr(0, ends[half]) + kEllipsis) ? fitting : beyond) = half;
  }
  std::string kept = text.substr(0, ends[fitting]);
  kept.erase(kept.find_last_not_of(' ') + 1);
  return kept + kEllipsis;
}

}  // namespace

std::string shorten(const TextMeasure& measure, const FitRequest& request) {
  return shorten_visible(measure, visible_text(request.text), request);
}

std::vector<std::string> wrap(const TextMeasure& measure, const FitRequest& request, size_t most) {
  const std::string text = visible_text(request.text);
  std::vector<std::string> lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (line.empty() || measure.width(longer, request.style) <= request.width + kSlack) {
      line = longer;
      continue;
    }
    if (lines.size() + 1 == most) {
      // The last line takes all that is left, to be cut.
      line += ' ' + text.substr(end - word.size());
      break;
    }
    lines.push_back(line);
    line = word;
  }
  if (!line.empty()) lines.push_back(line);
  for (auto& each : lines) each = shorten_visible(measure, each, request);
  return lines;
}

}  // namespace buoy::figure
