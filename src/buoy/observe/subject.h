#pragma once

#include <cstdint>
#include <vector>

#include "buoy/observe/query_groups.h"

namespace buoy::observe {

// The sequence a recorder watches.
struct Subject {
  std::int64_t tokens = 0;  // length of the row, all generated slots included
  std::int64_t prompt_length = 0;
  std::int64_t steps = 1;  // forwards there will be
  std::int64_t layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t hidden = 0;                    // width of the residual stream
  std::int64_t prediction_offset = 0;         // the row that writes position p is p - offset
  std::int32_t mask_token = -1;               // -1: none
  std::vector<std::int32_t> end_tokens = {};  // ids that end an answer
  Regions regions;
  QueryGroups groups = QueryGroups::by_state();
};

}  // namespace buoy::observe
