#pragma once

#include <cstdint>
#include <vector>

namespace buoy::report {

struct ExplorerSize {
  std::int64_t steps = 0, layers = 0, heads = 0;
  std::int64_t rows = 0;         // rows of attention that may be kept
  std::int64_t query_cells = 0;  // steps times layers at which rows of the answer's queries may be kept
};

// Which rows of a sample are kept.
struct ExplorerPlan {
  std::vector<std::int64_t> steps, layers;            // of head means: indices into those observed
  std::vector<std::int64_t> head_steps, head_layers;  // of single heads: indices into the kept ones above
  std::vector<std::int64_t> row_steps, row_layers;    // of the answer's queries, likewise
};

// `size.rows` is at least 1.
ExplorerPlan plan_explorer(const ExplorerSize& size);

}  // namespace buoy::report
