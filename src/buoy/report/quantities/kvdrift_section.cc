#include <fmt/format.h>

#include "buoy/report/quantities/quantity_panels.h"
#include "buoy/result/schema/kvdrift.h"

namespace buoy::report {
namespace {

constexpr QuantityPanel kDriftPanels[] = {
    {"Keys, all tokens", "keys", "1 less cosine", ""},
    {"Values, all tokens", "values", "1 less cosine", ""},
    {"Keys, the token that receives most", "keys_best", "1 less cosine", "a token at random"},
    {"Values, the token that receives most", "values_best", "1 less cosine", "a token at random"},
    {"Values, tokens just revealed", "values_revealed", "1 less cosine", "a token at random"},
    {"Tokens whose values move", "moving", "Share of tokens", ""},
    {"Rows of the answer whose states move", "states_moving", "Share of rows", ""},
};

}  // namespace

Section kvdrift_section(std::span<const Table> tables) {
  Section section = empty_section(schema::kKvDrift, "How far do keys and values move from step to step?");
  const auto& t = schema::kvdrift_by_layer;
  add_layers(tables, t, kDriftPanels,
             {"kvdrift_by_layer",
              "1 less the cosine with the step before, means over denoising steps. The null of single tokens "
              "and sorts of tokens is the mean over all tokens. Bands: bootstrap intervals over samples.",
              "Drift of keys and values by layer"},
             section);
  add_steps(tables, schema::kvdrift_by_step, kDriftPanels,
            {"kvdrift_by_step", "As above. Bands: bootstrap intervals over samples.",
             "The same along the run, mean over layers"},
            section);
  const auto& d = schema::kvdrift_depth;
  const auto all = find_table(tables, t), depth = find_table(tables, d);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto slope = [&](const char* quantity) {
      return with_interval(depth.where({{schema::trace, trace}, {d.quantity, quantity}, {d.depth, "slope"}}),
                           d.value);
    };
    section.readings.push_back(fmt::format(
        "{}: from step to step keys move by {}, values by {}; their slopes over depth are {} and {}. "
        "The token that receives most moves less than a token at random in {} (keys), {} (values).",
        trace, mean_said(all, t, trace, "keys"), mean_said(all, t, trace, "values"), slope("keys"),
        slope("values"), layers_said(all, t, trace, "keys_best", false),
        layers_said(all, t, trace, "values_best", false)));
  }
  return section;
}

}  // namespace buoy::report
