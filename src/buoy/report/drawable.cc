#include "buoy/report/drawable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace buoy::report {
namespace {

bool any_number(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// References of a series that goes away go with it; the others keep theirs under its new number.
void drop_series(figure::LineChart& chart, size_t at) {
  chart.series.erase(chart.series.begin() + static_cast<std::ptrdiff_t>(at));
  std::erase_if(chart.references, [&](const auto& curve) { return curve.of_series == at; });
  for (auto& curve : chart.references) {
    if (curve.of_series && *curve.of_series > at) --*curve.of_series;
  }
}

bool has_something(figure::LineChart& chart) {
  for (size_t i = chart.series.size(); i-- > 0;) {
    if (chart.series[i].x.empty()) drop_series(chart, i);
  }
  std::erase_if(chart.references, [](const auto& curve) { return curve.x.empty(); });
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [](const auto& series) { return any_number(series.y); });
}

bool has_something(figure::BarChart& chart) {
  return !chart.groups.empty() && std::any_of(chart.series.begin(), chart.series.end(),
                                              [](const auto& series) { return any_number(series.values); });
}

bool has_something(figure::DotChart& chart) {
  const auto has_dots = [](const figure::DotSeries& series) {
    return std::any_of(series.values.begin(), series.values.end(), any_number);
  };
  return !chart.groups.empty() && std::any_of(chart.series.begin(), chart.series.end(), has_dots);
}

bool has_something(figure::Heatmap& map) {
  return map.matrix.rows > 0 && map.matrix.columns > 0 && any_number(map.matrix.values);
}

bool has_something(figure::TokenStrip& strip) {
  return !strip.tokens.empty();
}

}  // namespace

std::vector<std::string> drop_empty_panels(figure::Figure& figure) {
  std::vector<std::string> gone;
  std::vector<figure::Panel> kept;
  for (auto& panel : figure.panels) {
    if (std::visit([](auto& content) { return has_something(content); }, panel.content)) {
      kept.push_back(std::move(panel));
    } else {
      gone.push_back(panel.title.empty() ? "one panel has no values"
                                         : fmt::format("the panel \"{}\" has no values", panel.title));
    }
  }
  figure.panels = std::move(kept);
  if (figure.panels.size() < 2) figure.letters = false;
  return gone;
}

}  // namespace buoy::report
