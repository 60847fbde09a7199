#include "buoy/report/quantities/quantity_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace buoy::report {
namespace {

template <typename Schema>
void draw_quantities(const TableView& all, const Schema& t, const ColumnSchema& x, const char* x_title,
                     std::span<const QuantityPanel> panels, const QuantityFigure& figure, Section& section) {
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  for (const auto& panel : panels) {
    figure::LineChart chart{x_title, panel.axis, {}, {}, {}, {}, {}};
    chart.kind = panel.null;  // a quantity of all tokens is far below one of single tokens
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace}, {t.quantity, panel.quantity}});
      if (!has_number(rows.numbers(t.value))) continue;
      if (*panel.null != '\0' && has_number(rows.numbers(t.null)))
        chart.references.push_back(reference(panel.null, rows, {x, t.null}, chart.series.size()));
      chart.series.push_back(curve(trace, rows, {x, t.value}));
    }
    if (!chart.series.empty()) page.panels.push_back({panel.title, chart});
  }
  if (page.panels.empty()) return;
  page.title = figure.title;
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back({figure.name, figure.caption, page});
}

struct SaidLayers {
  size_t above = 0, below = 0, all = 0;
  double samples = Measured::kNone;
};

SaidLayers said_layers(const TableView& all, const schema::QuantityByLayer& t, const std::string& trace,
                       const std::string& quantity) {
  const auto rows = all.where({{schema::trace, trace}, {t.quantity, quantity}});
  const auto lower = rows.numbers(t.excess.lower), upper = rows.numbers(t.excess.upper),
             samples = rows.numbers(t.samples);
  SaidLayers out;
  out.all = rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    out.above += lower[i] > 0;
    out.below += upper[i] < 0;
    out.samples = std::isnan(out.samples) ? samples[i] : std::min(out.samples, samples[i]);
  }
  return out;
}

}  // namespace

void add_layers(std::span<const Table> tables, const schema::QuantityByLayer& t,
                std::span<const QuantityPanel> panels, const QuantityFigure& figure, Section& section) {
  draw_quantities(find_table(tables, t), t, t.layer, "Layer", panels, figure, section);
}

void add_steps(std::span<const Table> tables, const schema::QuantityByStep& t,
               std::span<const QuantityPanel> panels, const QuantityFigure& figure, Section& section) {
  draw_quantities(find_table(tables, t), t, t.step_bin, "Eighth of the run", panels, figure, section);
}

std::vector<PartCount> layers_above(std::span<const Table> tables, const schema::QuantityByLayer& t,
                                    const std::string& quantity) {
  const auto all = find_table(tables, t);
  std::vector<PartCount> out;
  for (const auto& trace : all.distinct(schema::trace)) {
    const SaidLayers layers = said_layers(all, t, trace, quantity);
    if (layers.all > 0) out.push_back({trace, layers.above, layers.all, layers.samples});
  }
  return out;
}

std::string layers_said(const TableView& all, const schema::QuantityByLayer& t, const std::string& trace,
                        const std::string& quantity, bool above) {
  const SaidLayers layers = said_layers(all, t, trace, quantity);
  if (layers.all == 0) return "no layer (not defined)";
  return fmt::format("{} of {} layers", above ? layers.above : layers.below, layers.all);
}

std::string mean_said(const TableView& all, const schema::QuantityByLayer& t, const std::string& trace,
                      const std::string& quantity) {
  const auto rows = all.where({{schema::trace, trace}, {t.quantity, quantity}});
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0, count = 0;
    for (const double value : values) {
      if (std::isfinite(value)) sum += value, count += 1;
    }
    return count > 0 ? sum / count : std::nan("");
  };
  const double value = mean(rows.numbers(t.value)), null = mean(rows.numbers(t.null));
  if (!std::isfinite(value)) return "not defined";
  return std::isfinite(null) ? fmt::format("{:.3g} (null {:.3g})", value, null)
                             : fmt::format("{:.3g}", value);
}

}  // namespace buoy::report
