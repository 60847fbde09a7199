#pragma once

#include <span>

#include "buoy/checkpoint/config.h"
#include "buoy/model/packed_batch.h"
#include "buoy/ops/attention/attention.h"

namespace buoy::model {

// Whether a forward may be asked for a grid.
bool takes_grid(const ModelConfig& config);
// One block that holds every sequence: all see all.
BlockGrid whole_sequence();

// The mask of one pass: blocks where the family has no other reading or a sequence asks for a grid. Every
// sequence then has its own, grid_of().
ops::MaskKind mask_kind(const ModelConfig& config, std::span<const SequenceInput> sequences);
// Where a model that could see blocks was not asked to: one block holds everything, or causal models have
// blocks of one position. No grid in other families.
BlockGrid grid_of(const ModelConfig& config, const SequenceInput& sequence);

// UsageError for a grid, or a use of the cache, that this model or sequence cannot have.
void check_blocks(const ModelConfig& config, const SequenceInput& sequence);

}  // namespace buoy::model
