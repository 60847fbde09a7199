#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/qk/qk_columns.h"

namespace buoy::analysis {

// What the columns of a set F have over the others O, and what it is made of. With S, C, N the means of q.k,
// cosine and norm product over a set and E = S - N C:
//   S_F - S_O = (N_F - N_O) C_O + N_O (C_F - C_O) + (N_F - N_O)(C_F - C_O) + (E_F - E_O)   exactly;
// without an order: scale (N_F - N_O)(C_F + C_O)/2, direction (C_F - C_O)(N_F + N_O)/2, and the residual.
enum Contrast : std::uint8_t {
  kFloatingColumns,  // size of F
  kDotFloating,
  kDotOther,
  kCosineFloating,
  kCosineOther,
  kNormFloating,
  kNormOther,
  kAdvantage,  // S_F - S_O
  kScaleAtOthers,
  kDirectionAtOthers,
  kBoth,
  kResidual,
  kScale,      // order-free
  kDirection,  // order-free
  kZDot,       // (mean of F - mean of O) / population deviation over O
  kZCosine,
  kZNorm,
  kRankDot,  // of the strongest column of F: 0 the largest of all columns, 1 the smallest
  kRankCosine,
  kRankNorm,
  kLogNorm,       // mean log norm product of F minus that of O
  kLogAdvantage,  // log(S_F / S_O), where all of S and C are positive
  kLogScale,      // log(N_F / N_O), likewise
  kLogDirection,  // log(C_F / C_O), likewise
  kContrasts
};

using ContrastValues = std::array<double, kContrasts>;

// Sums over all columns of one head, made once for all sets.
struct ColumnTotals {
  explicit ColumnTotals(const ColumnMeans& columns);
  std::array<double, 3> sum{}, square{};  // dot, cosine, norm
  double log_norm = 0;
  std::vector<double> logs;  // of each norm
};

// `floating` are positions, ascending; those that are no columns are passed over. `strongest` is the one
// whose rank is taken. All NaN when F or O is empty.
ContrastValues contrast(const ColumnMeans& columns, const ColumnTotals& totals,
                        std::span<const std::int32_t> floating, std::int64_t strongest);

}  // namespace buoy::analysis
