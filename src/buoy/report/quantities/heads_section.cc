#include <fmt/format.h>

#include "buoy/report/quantities/quantity_panels.h"
#include "buoy/result/schema/heads.h"

namespace buoy::report {
namespace {

constexpr QuantityPanel kHeadPanels[] = {
    {"Entropy of rows", "entropy", "Nats", kUniformName},
    {"Entropy of masked rows", "entropy_masked", "Nats", kUniformName},
    {"Entropy of revealed rows", "entropy_revealed", "Nats", kUniformName},
    {"First key, masked rows", "first_masked", "Weight", kUniformName},
    {"First key, revealed rows", "first_revealed", "Weight", kUniformName},
};
constexpr QuantityPanel kOutputPanels[] = {
    {"Length of values attended to", "attended_length", "Length", kUniformName},
    {"Dormant heads", "dormant", "Share of heads", "heads alike"},
    {"Dormant heads with a sink", "dormant_at_sink", "Share of heads", "independent"},
};

}  // namespace

Section heads_section(std::span<const Table> tables) {
  Section section =
      empty_section(schema::kHeads, "How sharp are heads, what do they attend to, and which are dormant?");
  const auto& t = schema::heads_by_layer;
  add_layers(
      tables, t, kHeadPanels,
      {"heads_by_layer",
       "Means over heads and denoising steps. Null: even attention with the same mask. Bands: bootstrap "
       "intervals over samples.",
       "Entropy and first key of heads by layer"},
      section);
  add_layers(tables, t, kOutputPanels,
             {"head_outputs_by_layer",
              "Means over heads and denoising steps. A head is dormant when what it hands to the output "
              "projection is less than half as long as the mean of its layer (needs head-norms). Bands: "
              "bootstrap intervals over samples.",
              "Values and outputs of heads by layer"},
             section);
  add_steps(tables, schema::heads_by_step, kHeadPanels,
            {"heads_by_step", "As above. Bands: bootstrap intervals over samples.",
             "The same along the run, mean over layers"},
            section);
  const auto all = find_table(tables, t);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto dormant = all.where({{schema::trace, trace}, {t.quantity, "dormant"}});
    const std::string heads =  // where what heads put out was observed
        has_number(dormant.numbers(t.value))
            ? fmt::format("; dormant heads {}, dormant at a sink {}", mean_said(all, t, trace, "dormant"),
                          mean_said(all, t, trace, "dormant_at_sink"))
            : "";
    section.readings.push_back(fmt::format(
        "{}: rows have an entropy of {} nats, below even attention in {}; values that are attended to are "
        "shorter than by even attention in {}{}.",
        trace, mean_said(all, t, trace, "entropy"), layers_said(all, t, trace, "entropy", false),
        layers_said(all, t, trace, "attended_length", false), heads));
  }
  return section;
}

}  // namespace buoy::report
