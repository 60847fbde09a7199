#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buoy/observe/query_groups.h"

namespace buoy::observe {

// Forwards of a loop that decodes blocks, known once it has run.
struct BlockRun {
  std::int64_t block = 0, origin = 0;                    // the grid of the finished row
  std::int64_t denoised_block = 0, denoised_origin = 0;  // of the blocks while they are denoised
  std::vector<std::int32_t> tokens = {};                 // of the finished row
  std::vector<std::uint8_t> kinds = {};                  // trace::StepKind of every forward
  std::vector<std::int32_t> rows_run = {};               // [forwards, 2]: the first row, and where they end
  std::vector<std::int32_t> reveals = {};                // [reveals, 3]: forward, position, token
  std::vector<std::int32_t> revealed_at = {};            // [tokens]: the last forward that revealed it, or -1
};

// The sequence a recorder watches.
struct Subject {
  std::int64_t tokens = 0;  // length of the row, all generated slots included
  std::int64_t prompt_length = 0;
  std::int64_t steps = 1;  // forwards there will be
  std::int64_t layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t hidden = 0;                    // width of the residual stream
  std::int64_t experts = 0, chosen = 0;       // of a layer, and for each token; 0: the model has none
  std::int64_t prediction_offset = 0;         // the row that writes position p is p - offset
  std::int32_t mask_token = -1;               // -1: none
  std::vector<std::int32_t> end_tokens = {};  // ids that end an answer
  Regions regions;
  QueryGroups groups = QueryGroups::by_state();
  std::shared_ptr<const BlockRun> blocks = nullptr;  // null: not of blocks
};

}  // namespace buoy::observe
