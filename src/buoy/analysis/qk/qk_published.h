#pragma once

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

  // Every observed layer at the last observed step.
  void draw(const ObservedSample& sample);
  const Table& table() const { return table_; }

 private:
  void draw_layer(const ObservedSample& sample, std::int64_t l);

  Table table_;
};

}  // namespace buoy::analysis
