#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/routing.h"

namespace buoy::report {
namespace {

struct RoutingPanel {
  const char *title, *quantity, *axis, *null;
};
constexpr RoutingPanel kRoutingPanels[] = {
    {"Imbalance of load", "imbalance", "Times even", "chosen evenly"},
    {"Entropy of the router", "entropy", "Entropy, nats", "even"},
    {"Experts changed since the step before", "change", "Share of a token's experts", "tokens permuted"},
    {"What experts say of masked or not", "by_state", "Information, nats", "tokens permuted"},
    {"What experts say of the region", "by_region", "Information, nats", "tokens permuted"},
    {"What experts say of the token's type", "by_type", "Information, nats", "tokens permuted"},
};

// Layers of a trace in which the excess of a quantity lies above its null, or below it.
struct RoutingLayers {
  size_t above = 0, below = 0, all = 0;
  double samples = Measured::kNone;  // the fewest of a layer
};

RoutingLayers count_layers(const TableView& all, const std::string& trace, const char* quantity) {
  const auto& t = schema::routing_by_layer;
  const auto rows = all.where({{schema::trace, trace}, {t.quantity, quantity}});
  const auto lower = rows.numbers(t.excess.lower), upper = rows.numbers(t.excess.upper),
             samples = rows.numbers(t.samples);
  RoutingLayers out;
  out.all = rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    out.above += lower[i] > 0;
    out.below += upper[i] < 0;
    out.samples = std::isnan(out.samples) ? samples[i] : std::min(out.samples, samples[i]);
  }
  return out;
}

std::vector<PartCount> layers_by_region(const TableView& all) {
  std::vector<PartCount> out;
  for (const auto& trace : all.distinct(schema::trace)) {
    const RoutingLayers layers = count_layers(all, trace, "by_region");
    if (layers.all > 0) out.push_back({trace, layers.above, layers.all, layers.samples});
  }
  return out;
}

// One panel for each quantity that there is, over layers or over the run.
template <typename Schema>
void add_panels(const TableView& all, const Schema& t, const ColumnSchema& x, const char* x_title,
                figure::Figure& page) {
  for (const auto& panel : kRoutingPanels) {
    figure::LineChart chart{x_title, panel.axis, {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace}, {t.quantity, panel.quantity}});
      if (!has_number(rows.numbers(t.value))) continue;
      chart.references.push_back(reference(panel.null, rows, {x, t.null}, chart.series.size()));
      chart.series.push_back(curve(trace, rows, {x, t.value}));
    }
    if (!chart.series.empty()) page.panels.push_back({panel.title, chart});
  }
}

void add_routing_layers(std::span<const Table> tables, Section& section) {
  const auto& t = schema::routing_by_layer;
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  add_panels(all, t, t.layer, "Layer", page);
  if (page.panels.empty()) return;
  page.title = title_of_parts({"Experts know the region of a token beyond chance",
                               "Load, change and specialisation of experts by layer"},
                              layers_by_region(all));
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back(
      {"routing_by_layer",
       "Means over the denoising steps. Imbalance: number of experts times the sum of their squared shares; "
       "its null has each token choose evenly and alone. Change: share of a token's experts that it did not "
       "have at the step before; information: between a token's class and its experts. Their null permutes "
       "the tokens of each step. Bands: bootstrap intervals over samples.",
       page});
}

void add_routing_steps(std::span<const Table> tables, Section& section) {
  const auto& t = schema::routing_by_step;
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  add_panels(all, t, t.step_bin, "Eighth of the run", page);
  if (page.panels.empty()) return;
  page.title = "The same along the run, mean over layers";
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back({"routing_by_step", "As above. Bands: bootstrap intervals over samples.", page});
}

}  // namespace

Section routing_section(std::span<const Table> tables) {
  Section section = empty_section(
      schema::kRouting, "How even is the load of experts, do tokens change them, and are they specialised?");
  add_routing_layers(tables, section);
  add_routing_steps(tables, section);
  const auto all = find_table(tables, schema::routing_by_layer);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto said = [&](const char* quantity, bool above) {
      const RoutingLayers layers = count_layers(all, trace, quantity);
      if (layers.all == 0) return std::string("not defined");
      return fmt::format("{} of {} layers", above ? layers.above : layers.below, layers.all);
    };
    section.readings.push_back(
        fmt::format("{}: experts are loaded less evenly than by tokens that choose for themselves in {}; "
                    "tokens change fewer experts from step to "
                    "step than permuted tokens would in {}; experts say more than chance of whether a token "
                    "is masked in {}, of its region in "
                    "{}, of its type in {} (interval of the excess, layer by layer).",
                    trace, said("imbalance", true), said("change", false), said("by_state", true),
                    said("by_region", true), said("by_type", true)));
  }
  return section;
}

}  // namespace buoy::report
