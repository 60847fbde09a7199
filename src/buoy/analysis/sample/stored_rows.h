#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/stored_source.h"

namespace buoy::analysis {

// Received attention of a stored sample, whatever the level of its trace: from `received` of a full one, or
// from the quantised rows of a compact one, which are within kMostQuantisedError of it.
class StoredRows {
 public:
  // InputError when the sample has neither. `source` must stay.
  explicit StoredRows(const StoredSource& source);

  bool has_heads() const { return full_ || heads_; }
  // Of a forward and layer, by index: [1 + heads, tokens], the mean over the heads, then every head; the mean
  // alone where heads were not kept.
  std::vector<double> at(std::int64_t s, std::int64_t l) const;
  // Whether weights of the chosen queries (row_positions) were kept.
  bool has_queries() const { return weights_ || codes_; }
  // [row_positions, tokens]: their weights, mean over the heads.
  std::vector<double> queries_at(std::int64_t s, std::int64_t l) const;

 private:
  const StoredSource& source_;
  bool full_, heads_, weights_, codes_;
};

// Rows of an array of codes with its scales, at the leading indices: what the codes stand for. InputError for
// scales that no row has.
std::vector<double> read_quantised(const trace::StoredSample& sample, std::string_view codes,
                                   std::string_view scales, const std::vector<std::int64_t>& leading);

}  // namespace buoy::analysis
