#include <fmt/format.h>

#include "buoy/report/quantities/quantity_panels.h"
#include "buoy/result/schema/sinks.h"

namespace buoy::report {
namespace {

constexpr QuantityPanel kSinkPanels[] = {
    {"Best key above epsilon", "best_above", "Share of heads", kUniformName},
    {"First key above epsilon", "first_above", "Share of heads", kUniformName},
    {"Sinks of a head (column sums)", "rulli_sum", "Keys", kUniformName},
    {"Best key of masked queries", "masked_best", "Share of attention", kUniformName},
    {"Best key of revealed queries", "revealed_best", "Share of attention", kUniformName},
    {"Masked and revealed: the same best key", "same_best", "Share of heads", "keys at random"},
};
constexpr QuantityPanel kLifePanels[] = {
    {"In place at the next step", "stays", "Share of sinks", "drawn at random"},
    {"Left while another entered", "moves", "Share of sinks", "drawn at random"},
    {"Time at one place", "lifetime", "Share of the run", "drawn at random"},
};
constexpr QuantityPanel kValuePanels[] = {
    {"Value at the best key over the others", "value_ratio", "Ratio of lengths", "a key at random"},
    {"Heads whose best key is drained", "drain", "Share of heads", "a key at random"},
    {"Attention times value at the best key", "contribution", "Share of all keys", "by attention alone"},
};

void add_epsilons(std::span<const Table> tables, Section& section) {
  const auto& t = schema::sinks_by_epsilon;
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [title, key] : {std::pair{"First key", "first"}, std::pair{"Best key", "best"}}) {
    figure::LineChart chart{"Epsilon", "Share of heads", {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace}, {t.key, key}});
      if (!has_number(rows.numbers(t.share))) continue;
      chart.references.push_back(reference(kUniformName, rows, {t.epsilon, t.null}, chart.series.size()));
      chart.series.push_back(curve(trace, rows, {t.epsilon, t.share}));
    }
    if (!chart.series.empty()) page.panels.push_back({title, chart});
  }
  if (page.panels.empty()) return;
  page.title = "Share of heads with a sink, by epsilon";
  page.caption = counted(all, {schema::trace, t.samples});
  section.figures.push_back(
      {"sinks_by_epsilon",
       "Share of heads whose first key (published) or best key receives more than "
       "epsilon, all layers and denoising steps. Bands: bootstrap intervals over samples.",
       page});
}

}  // namespace

Section sinks_section(std::span<const Table> tables) {
  Section section =
      empty_section(schema::kSinks, "Which heads have sinks, how do these live, and who looks at them?");
  const auto& t = schema::sinks_by_layer;
  const auto& steps = schema::sinks_by_step;
  constexpr const char* kAsAbove = "As above. Bands: bootstrap intervals over samples.";
  constexpr const char* kAlongTheRun = "The same along the run, mean over layers";
  add_layers(tables, t, kSinkPanels,
             {"sinks_by_layer",
              "Means over heads and denoising steps. Sinks of a head: keys above the mean of the others + 3 "
              "on the scale of column sums. Null: even attention with the same mask. Bands: bootstrap "
              "intervals over samples.",
              "Attention sinks by layer"},
             section);
  add_steps(tables, steps, kSinkPanels, {"sinks_by_step", kAsAbove, kAlongTheRun}, section);
  add_layers(
      tables, t, kLifePanels,
      {"sink_lives_by_layer",
       "Of the sinks of a step (rule of column sums) those that are in place at the next one, and those that "
       "left as another entered; mean time at one place. Null: as many keys drawn at random at every "
       "step. Bands: bootstrap intervals over samples.",
       title_of_parts({"Sinks stay in place beyond chance", "How sinks live, by layer"},
                      layers_above(tables, t, "stays"))},
      section);
  add_steps(tables, steps, kLifePanels, {"sink_lives_by_step", kAsAbove, kAlongTheRun}, section);
  add_layers(tables, t, kValuePanels,
             {"sink_values_by_layer",
              "Length of the value at each head's best key over the mean of the other keys; drained: below "
              "0.5. Bands: bootstrap intervals over samples.",
              "Values at sinks by layer"},
             section);
  add_epsilons(tables, section);
  const auto all = find_table(tables, t);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto mean = [&](const char* quantity) { return mean_said(all, t, trace, quantity); };
    const auto known = [&](const char* quantity) {
      return has_number(all.where({{schema::trace, trace}, {t.quantity, quantity}}).numbers(t.value));
    };
    std::string said = fmt::format(
        "{}: the best key is above epsilon in a share of {} of the heads, the first key in {}; sinks of a "
        "head {}.",
        trace, mean("best_above"), mean("first_above"), mean("rulli_sum"));
    // An autoregressive row has one step, and no masked queries.
    if (known("stays"))
      said += fmt::format(" Of a step's sinks {} are in place at the next, {} move, {} vanish.",
                          mean("stays"), mean("moves"), mean("dies"));
    if (known("same_best"))
      said += fmt::format(" Masked and revealed queries have the same best key in {} of the heads.",
                          mean("same_best"));
    if (known("value_ratio"))
      said +=
          fmt::format(" The value at the best key is {} times as long as the others.", mean("value_ratio"));
    section.readings.push_back(std::move(said));
  }
  return section;
}

}  // namespace buoy::report
