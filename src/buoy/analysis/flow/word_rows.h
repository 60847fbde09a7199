#pragma once

#include <vector>

#include "buoy/analysis/flow/region_matrix.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/analysis/sample/sample_regions.h"

namespace buoy::analysis {

// A query row of the answer at one forward.
struct AnswerRow {
  std::int64_t row = 0;
  bool masked = false;  // the token that it writes
};

// What even attention gives to each region from some rows, mean over the rows; [regions], NaN for none.
std::vector<double> even_shares(const std::vector<AnswerRow>& rows, const ForwardRegions& now,
                                std::int64_t regions);

// What single rows that write the answer give to the regions. Which of them write its words and which write
// padding is known when the sample is over, so all are kept until then.
class WordRows {
 public:
  // Nothing is kept where the sample has no row_mass.
  WordRows(const SampleFacts& sample, const SampleRegions& regions);
  bool kept() const { return kept_; }
  void take(const LayerView& layer, const SampleRegions& regions);  // of a step

  // The rows that write the words of the answer, of those that ran at step `s`.
  std::vector<AnswerRow> words(const ObservedSample& sample, std::int64_t s) const;
  // Mean over some rows at one step, [regions]; NaN for none.
  std::vector<double> shares(const std::vector<AnswerRow>& rows, std::int64_t s, std::int64_t l) const;
  // Mean over the steps and the rows of words() at each, [heads, regions].
  std::vector<double> by_head(const ObservedSample& sample, std::int64_t l) const;
  void let_go();

 private:
  std::int64_t index_of(std::int64_t row) const;

  bool kept_ = false;
  std::int64_t layers_ = 0, heads_ = 0, regions_ = 0, steps_ = 0;
  std::vector<std::int32_t> positions_;        // of the rows, ascending
  std::vector<std::vector<float>> head_mean_;  // [steps, layers]: [rows, regions]
  std::vector<std::vector<double>> sums_;      // [layers]: [rows, heads, regions], over the steps
};

}  // namespace buoy::analysis
