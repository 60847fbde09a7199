#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "buoy/claims/claims.h"
#include "support/written_table.h"

// What the tests of the claims share: small tables, two traces, a verdict by its id.
namespace buoy::claims {

inline constexpr std::int64_t kSamples = 40;
inline const TraceKind kDiffusion{"diffusion", true, kSamples};
inline const TraceKind kCausal{"causal", false, kSamples};

struct Interval {
  double value, lower, upper;
};
inline constexpr Interval kAbove{0.5, 0.3, 0.7}, kBelow{-0.5, -0.7, -0.3}, kAround{0.1, -0.3, 0.5};

using testing::add_cells;
using testing::column_named;

inline Table table(const std::string& name, const std::vector<std::string>& columns,
                   std::vector<std::vector<Cell>> rows = {}) {
  Table out = testing::written_table(name, columns);
  for (auto& row : rows) add_cells(out, std::move(row));
  return out;
}

inline ClaimVerdict claim_of(const std::string& id, const std::vector<Table>& tables,
                             const std::vector<TraceKind>& traces) {
  for (auto& claim : judge_claims(tables, traces)) {
    if (claim.id == id) return claim;
  }
  ADD_FAILURE() << "no claim " << id;
  return {};
}

inline bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace buoy::claims
