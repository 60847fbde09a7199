#include "buoy/analysis/drift/drift_tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/result/schema/drift.h"
#include "buoy/result/table_view.h"

namespace buoy::analysis {
namespace {

// Rows of correlations and shares; each must have both its ends at the bounds.
template <typename Schema>
std::size_t clipped_rows(const std::vector<Table>& tables, const Schema& t) {
  const auto all = find_table(tables, t);
  const auto scalars = all.texts(t.scalar);
  const auto value = all.numbers(t.value), lower = all.numbers(t.value.lower),
             upper = all.numbers(t.value.upper);
  std::size_t clipped = 0;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (!std::isfinite(lower[i])) continue;
    const bool correlation = scalars[i].starts_with("spearman") || scalars[i] == "reveal_order";
    const bool share = scalars[i] == "static" || scalars[i] == "jaccard" || scalars[i] == "persistence";
    if (!correlation && !share) {
      EXPECT_LT(lower[i], -1) << scalars[i] << ": no bound is known";
      continue;
    }
    EXPECT_NEAR(value[i], 0.6, 1e-12) << scalars[i];
    EXPECT_EQ(upper[i], 1) << t.name() << " " << scalars[i];
    EXPECT_EQ(lower[i], share ? 0 : -1) << t.name() << " " << scalars[i];
    ++clipped;
  }
  return clipped;
}

// Two samples of one layer, whose anchors follow the steps perfectly and by 0.2: Student's t of two goes far
// beyond 1, and beyond 0 for a share.
TEST(DriftTables, IntervalsEndWhereCorrelationsAndSharesEnd) {
  trace::Manifest manifest;
  manifest.model.layers = 1;
  manifest.model.heads = 1;
  LayerAxis axis(manifest);
  SampleFacts facts;
  facts.layers = {0};
  axis.take(facts);
  DriftState state(axis, {});
  for (const double value : {1.0, 0.2}) {
    std::array<double, kDriftScalars> scalars{};
    scalars.fill(value);
    for (std::int64_t positions = 0; positions < kDriftPositions; ++positions)
      state.take({0, -1, positions}, scalars);
    state.add_sample(value > 0.5 ? "a" : "b", axis, value);
  }
  const auto tables = drift_tables(axis, {}, &state);
  const std::size_t clipped = clipped_rows(tables, schema::drift_by_layer) +
                              clipped_rows(tables, schema::drift_summary) +
                              clipped_rows(tables, schema::drift_order);
  EXPECT_GT(clipped, 10u);
}

}  // namespace
}  // namespace buoy::analysis
