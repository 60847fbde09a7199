#pragma once

#include "buoy/result/schema/quantities.h"

namespace buoy::schema {

inline constexpr Producer kSteps{Source::kAnalysis, "steps", "Attention from step to step", "received", ""};

inline constexpr QuantityText kStepsText{
    "of what the keys of a head receive: cosine, overlap: with the step before (overlap: the attention that "
    "both have in common); first_cosine, first_overlap: with the first observed step; recall: share of the k "
    "keys "
    "(option recall_keys) that received most at the first step that are among the k best now; recall_before: "
    "of those of the step before; recalled_mass: attention on the first step's keys over that on the k "
    "best now; row_cosine: as cosine, of single rows that write the answer (needs `observe` rows), mean over "
    "rows; block_recall, block_recalled_mass: as recall and recalled_mass, within every block that is "
    "decoded: "
    "of the first denoising step of the block",
    "the same with the keys of one step permuted; recall, recall_before, recalled_mass and those "
    "of blocks: k of the keys that exist, drawn at random"};

struct StepsByLayer : QuantityByLayer {
  constexpr StepsByLayer()
      : QuantityByLayer({kSteps, "steps_by_layer",
                         "How alike attention is from step to step by layer, mean over heads and steps"},
                        kStepsText) {}
};
inline constexpr StepsByLayer steps_by_layer;

struct StepsByStep : QuantityByStep {
  constexpr StepsByStep()
      : QuantityByStep({kSteps, "steps_by_step", "The same along the run, mean over layers"}) {}
};
inline constexpr StepsByStep steps_by_step;

struct StepsByHead : QuantityByHead {
  constexpr StepsByHead()
      : QuantityByHead({kSteps, "steps_by_head", "The same of every head, mean over steps"}) {}
};
inline constexpr StepsByHead steps_by_head;

// In the order the analysis makes them.
inline constexpr auto kStepsTables =
    std::to_array<const TableSchema*>({&steps_by_layer, &steps_by_step, &steps_by_head});

}  // namespace buoy::schema
