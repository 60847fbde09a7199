#pragma once

#include <array>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

// The published form of the QK decomposition: queries and keys averaged over heads as vectors, column means
// over rows 8 to 51 with self pairs, floating columns by three sigma of the head-averaged attention (whatever
// epsilon other estimators have), if none the largest. It needs query and key states; the table holds the
// published numbers alone when they were not traced.
class QkPublished {
 public:
  QkPublished();

  // One layer at the last observed step; no columns: states were not observed.
  struct Panel {
    std::array<std::vector<double>, 3> columns;  // dot, cosine, norm product: [tokens]
    std::vector<std::int32_t> floating;          // positions, ascending

    void state(StateArchive& archive, std::int64_t tokens);
  };
  static Panel panel_of(const LayerView& layer);

  void draw(const SampleFacts& sample, std::int64_t l, const Panel& panel);
  const Table& table() const { return table_; }

 private:
  Table table_;
};

}  // namespace buoy::analysis
