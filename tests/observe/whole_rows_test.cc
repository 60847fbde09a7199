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

struct Arriving final : probe::PendingRecord {
  explicit Arriving(std::vector<float> numbers) : numbers(std::move(numbers)) {}
  void fill(probe::LayerRecord& record) override {
    record.received = numbers;
    record.entropy = {numbers[0], numbers[1]};
    record.states.heads = 1;
  }
  std::uint64_t bytes() const override { return numbers.size() * sizeof(float); }

  std::vector<float> numbers;
};

struct Later final : probe::Probe {
  std::vector<std::unique_ptr<probe::PendingRecord>> pending;

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest out;
    out.received = out.entropy = true;
    out.groups = 1;
    out.group_of_row.assign(static_cast<std::size_t>(extent.query_rows), 0);
    return out;
  }
  void take(const probe::Address&, probe::LayerRecord&&) override { ADD_FAILURE(); }
  bool takes_later() const override { return true; }
  void take_later(const probe::Address&, std::unique_ptr<probe::PendingRecord> record) override {
    pending.push_back(std::move(record));
  }
};

// Numbers arrive when the next block is under way: they are those of the rows that ran then.
TEST(WholeRows, WidenWhatArrivesWhenOtherRowsRun) {
  std::vector<std::int32_t> row(kTokens);
  std::iota(row.begin(), row.end(), 10);
  Later later;
  WholeRows whole(later, 4, [&] { return row; });
  ASSERT_TRUE(whole.takes_later());
  const auto ran = [&](std::int64_t step, std::int64_t first, std::vector<float> numbers) {
    whole.request({0, step, 0, 0}, {2, first + 2, 1, std::span(row).subspan(static_cast<size_t>(first), 2)});
    whole.take_later({0, step, 0, 0}, std::make_unique<Arriving>(std::move(numbers)));
  };
  ran(0, 0, {1, 2});
  ran(1, 2, {3, 4, 5, 6});
  ran(2, 4, {7, 8, 9, 10, 11, 12});
  const std::vector<std::vector<float>> received = {{1, 2, 0, 0, 0, 0},
                                                    {3, 4, 5, 6, 0, 0},
                                                    {7, 8, 9, 10, 11, 12}},
                                        entropy = {
                                            {1, 2, 0, 0, 0, 0}, {0, 0, 3, 4, 0, 0}, {0, 0, 0, 0, 7, 8}};
  for (const std::size_t step : {2u, 0u, 1u}) {
    probe::LayerRecord record;
    later.pending[step]->fill(record);
    EXPECT_EQ(record.received, received[step]);
    EXPECT_EQ(record.entropy, entropy[step]);
    EXPECT_EQ(record.states.query_rows, kTokens);
    EXPECT_EQ(later.pending[step]->bytes(), (kTokens + kTokens) * sizeof(float));
  }
}

}  // namespace
}  // namespace buoy::observe
