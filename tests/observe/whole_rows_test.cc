// Forwards that run parts of a row, shown as forwards of the whole row.

#include "buoy/observe/whole_rows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace buoy::observe {
namespace {

constexpr std::int64_t kHeads = 2, kTokens = 6;

struct Follower final : probe::Probe {
  std::int64_t rows = 0;
  std::vector<float> followed;

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    rows = extent.query_rows;
    probe::LayerRequest out;
    out.followed = probe::FollowedRows::kAll;
    return out;
  }
  void take(const probe::Address&, probe::LayerRecord&& record) override { followed = record.followed; }
};

TEST(WholeRows, ShowKeysThatAreNotThereYetAsFollowedByNobody) {
  std::vector<std::int32_t> row(kTokens);
  std::iota(row.begin(), row.end(), 10);
  Follower follower;
  WholeRows whole(follower, 4, [&] { return row; });
  // Rows 2 and 3 run over keys 0 to 3.
  const probe::LayerExtent extent{2, 4, kHeads, std::span(row).subspan(2, 2)};
  const auto request = whole.request({0, 1, 0, 0}, extent);
  EXPECT_EQ(request.followed, probe::FollowedRows::kAll);
  EXPECT_EQ(follower.rows, kTokens);
  probe::LayerRecord record;
  record.states.heads = kHeads;
  record.followed = {1, 2, 3, 4, 5, 6, 7, 8};
  whole.take({0, 1, 0, 0}, std::move(record));
  EXPECT_EQ(follower.followed, (std::vector<float>{1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0}));
}

}  // namespace
}  // namespace buoy::observe
