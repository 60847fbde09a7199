#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/layer_view.h"

namespace buoy::analysis {

enum Stage : std::uint8_t { kAfterRotation, kBeforeRotation };
inline constexpr std::array kStageNames = {"after", "before"};
inline constexpr std::int64_t kStages = 2;

// The three means over queries of one head's key columns, self pairs left out: q.k, cos(q, k) and |q||k|.
struct ColumnMeans {
  std::span<const double> dot, cosine, norm;  // [columns]
};

// What queries and keys of one step and layer do on average, without self pairs. A causal column j rests on
// the queries behind it; the last one has none and is left out. A column of a prefix rests on all queries.
// Queries are those that ran: a column whose own did not has no self pair.
class QkColumns {
 public:
  // Throws InputError when the sample lacks the arrays.
  static void require(const SampleFacts& sample);

  // Columns that a query beside their own sees.
  static std::int64_t count(const Reach& reach);

  void read(const LayerView& layer);

  std::int64_t columns() const { return columns_; }
  ColumnMeans of(Stage stage, std::int64_t head) const;
  // Largest and mean relative difference of |q||k| before and after the rotation, which must not change it.
  double largest_norm_change() const { return largest_change_; }
  double mean_norm_change() const { return mean_change_; }

 private:
  struct Values {
    std::vector<double> dot, cosine, norm;  // [heads, columns]
  };
  void read_stage(Stage stage, const LayerView& layer);

  std::int64_t columns_ = 0;
  std::vector<double> self_norm_;  // [heads, tokens]: |q_j||k_j|
  std::vector<double> queries_;    // [columns] that see the column, itself among them
  std::vector<double> others_;     // [columns], itself not among them
  std::vector<double> changes_;    // [heads, tokens]
  std::array<Values, 2> values_;
  double largest_change_ = 0, mean_change_ = 0;
};

}  // namespace buoy::analysis
