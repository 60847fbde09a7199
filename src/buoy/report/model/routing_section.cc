#include <fmt/format.h>

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
    {"Entropy of the router", "entropy", "Nats", "even"},
    {"Experts changed since the step before", "change", "Share of a token's experts", "tokens permuted"},
    {"What experts say of masked or not", "by_state", "Nats", "tokens permuted"},
    {"What experts say of the region", "by_region", "Nats", "tokens permuted"},
    {"What experts say of the token's type", "by_type", "Nats", "tokens permuted"},
};

// Layers of each trace whose experts say more of the region than those of permuted tokens.
std::vector<PartCount> layers_by_region(const TableView& all) {
  const auto& t = schema::routing_by_layer;
  std::vector<PartCount> out;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto rows = all.where({{schema::trace, trace}, {t.quantity, "by_region"}});
    PartCount count{trace};
    const auto lower = rows.numbers(t.excess.lower), samples = rows.numbers(t.samples);
    for (size_t i = 0; i < lower.size(); ++i) {
      ++count.parts;
      count.above += lower[i] > 0;
      count.samples = std::isnan(count.samples) ? samples[i] : std::min(count.samples, samples[i]);
    }
    if (count.parts > 0) out.push_back(count);
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
  return section;
}

}  // namespace buoy::report
