#include <fmt/format.h>

#include "buoy/report/quantities/quantity_panels.h"
#include "buoy/result/schema/rollout.h"

namespace buoy::report {
namespace {

constexpr QuantityPanel kRolloutPanels[] = {
    {"First key", "first", "Share that arrives", kUniformName},
    {"Prompt", "prompt", "Share that arrives", kUniformName},
    {"Gold", "gold", "Share that arrives", kUniformName},
    {"Evidence", "evidence", "Share that arrives", kUniformName},
    {"Tokens that are reached", "reached", "Tokens", kUniformName},
};

}  // namespace

Section rollout_section(std::span<const Table> tables) {
  Section section = empty_section(schema::kRollout, "Which tokens does the answer rest on, layer by layer?");
  const auto& t = schema::rollout_by_layer;
  add_layers(tables, t, kRolloutPanels,
             {"rollout_by_layer",
              "From the rows that write the answer down through the layers to this one: half of what is at a "
              "token stays, half goes where it attends to, heads averaged. A rollout over many layers says "
              "little: read it beside its null. Bands: bootstrap intervals over samples.",
              "Rollout from the answer, token to token"},
             section);
  const auto all = find_table(tables, t);
  for (const auto& trace : all.distinct(schema::trace)) {
    section.readings.push_back(fmt::format(
        "{}: more arrives at the evidence than by even attention in {}, at the first key in {}.", trace,
        layers_said(all, t, trace, "evidence", true), layers_said(all, t, trace, "first", true)));
  }
  return section;
}

}  // namespace buoy::report
