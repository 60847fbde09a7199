#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/analysis/core/with_null.h"

namespace buoy::analysis {

// How alike two vectors of attention over the same keys are. Nulls permute the keys of one of them, in
// expectation.

// NaN where one of them is zero.
WithNull cosine_of(std::span<const double> a, std::span<const double> b);
// The attention that both have in common: sum of the smaller ones.
WithNull overlap_of(std::span<const double> a, std::span<const double> b);

// The k largest of a vector, each with its chance to be among them: 1, or less for those that tie for the
// last places, 0 for the rest.
std::vector<double> top_chances(std::span<const double> values, std::int64_t k);
// Share of the k keys of `first` that are among those of `now`; null: k keys drawn at random.
WithNull recall_of(std::span<const double> first, std::span<const double> now, std::int64_t k);
// Attention now on the keys of `first`, over the attention on as many best ones; null: keys at random.
WithNull recalled_mass(std::span<const double> first, std::span<const double> now, std::int64_t k,
                       std::span<const double> attention);

}  // namespace buoy::analysis
