#include <fmt/format.h>

#include "buoy/report/quantities/quantity_panels.h"
#include "buoy/result/schema/steps.h"

namespace buoy::report {
namespace {

constexpr QuantityPanel kStepPanels[] = {
    {"With the step before", "cosine", "Cosine", "keys permuted"},
    {"With the first step", "first_cosine", "Cosine", "keys permuted"},
    {"In common with the step before", "overlap", "Share of attention", "keys permuted"},
    {"First step's best keys, still the best", "recall", "Share of keys", "keys at random"},
    {"Attention on the first step's best keys", "recalled_mass", "Share of the best", "keys at random"},
    {"Best keys of the block's first step, still the best", "block_recall", "Share of keys",
     "keys at random"},
    {"Attention on the best keys of the block's first step", "block_recalled_mass", "Share of the best",
     "keys at random"},
    {"Single rows, with the step before", "row_cosine", "Cosine", "keys permuted"},
};

}  // namespace

Section steps_section(std::span<const Table> tables) {
  Section section =
      empty_section(schema::kSteps, "Does a head attend to the same keys from one step to the next?");
  const auto& t = schema::steps_by_layer;
  add_layers(
      tables, t, kStepPanels,
      {"steps_by_layer",
       "Of what the keys of a head receive, means over heads and denoising steps. Nulls permute the keys "
       "of one step, or draw as many keys at random. Few tokens of a row change in a step, so that networks "
       "without training are far above them, too. Bands: bootstrap intervals over samples.",
       "Attention from step to step by layer"},
      section);
  add_steps(tables, schema::steps_by_step, kStepPanels,
            {"steps_by_step", "As above. Bands: bootstrap intervals over samples.",
             "The same along the run, mean over layers"},
            section);
  const auto all = find_table(tables, t);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto mean = [&](const char* quantity) { return mean_said(all, t, trace, quantity); };
    section.readings.push_back(fmt::format(
        "{}: cosine of a head's attention with the step before {}, with the first step {}; {} of the "
        "first step's best keys are among the best later, with {} of the attention that the best get.",
        trace, mean("cosine"), mean("first_cosine"), mean("recall"), mean("recalled_mass")));
    const auto blocks = all.where({{schema::trace, trace}, {t.quantity, "block_recall"}});
    if (has_number(blocks.numbers(t.value)))
      section.readings.push_back(fmt::format(
          "{}: within a block, {} of the best keys of its first step are among the best later, with {} of "
          "the attention that the best get.",
          trace, mean("block_recall"), mean("block_recalled_mass")));
  }
  return section;
}

}  // namespace buoy::report
