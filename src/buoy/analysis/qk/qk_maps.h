#pragma once

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/qk/qk_columns.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

// Which layer of a sample a map is drawn of: the one asked for, or the observed one nearest below 7/8 of the
// depth (the deeper of the published panels, 28 of 32). An index into the observed layers. Throws UsageError
// for a layer that was not observed.
std::int64_t layer_of_map(const ObservedSample& sample, const AnalysisOptions& options);

// The maps of one sample at its last observed step.
class QkMaps {
 public:
  explicit QkMaps(const AnalysisOptions& options);

  void draw(const ObservedSample& sample);

  const Table& columns() const { return columns_; }
  const Table& pairs() const { return pairs_; }

 private:
  void draw_columns(const ObservedSample& sample, std::int64_t l);
  void draw_pairs(const ObservedSample& sample, std::int64_t l);

  AnalysisOptions options_;
  Table columns_, pairs_;
};

}  // namespace buoy::analysis
