#pragma once

#include "buoy/analysis/flow/region_matrix.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/analysis/sample/sample_regions.h"

namespace buoy::analysis {

// The regions of the published rollout (docs/measurements.md 8): BOS, query, documents, and as the answer all
// generated slots, whatever they hold. A row belongs to the region of its own position, not of the token that
// it writes. What lies in none of these, text of the template, is left out as query and as key.
//
// Query groups go by what rows write. Where that is the next token, the last row of the prompt stands among
// those of the answer: it is taken out by its own row_mass. Without that array there is nothing published to
// show of such models.
class PublishedRegions {
 public:
  PublishedRegions(const SampleFacts& sample, const SampleRegions& regions);

  bool known() const { return known_; }

  // Of the forward over the finished row: mass between regions, head mean, by position. `by_writing` is the
  // same with padding apart and rows by the token that they write.
  RegionMatrix mass(const RegionMatrix& by_writing, const LayerView& final_layer,
                    const SampleRegions& regions) const;

  // What even attention goes through: regions by position. Rows and columns of padding and of the template
  // are empty.
  ForwardRegions regions(const SampleFacts& sample, const SampleRegions& regions) const;

 private:
  std::int32_t published(std::int32_t region) const;  // -1: none

  std::int32_t answer_, padding_, template_;
  std::int64_t moved_row_ = -1;  // index among row_positions of the row that writes the first token
  bool known_ = false;
};

}  // namespace buoy::analysis
