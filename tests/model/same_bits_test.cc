// How a forward pass is arranged changes no bit of its result: packing, threads, the
// choice of logit rows and being watched. For every golden checkpoint.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/golden_run.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::GoldenRun;
using testing::Ids;

class SameBits : public ::testing::TestWithParam<std::string> {};

TEST_P(SameBits, PackedOrOneByOne) {
  GoldenRun run(GetParam());
  std::vector<Ids> ids, rows;
  for (const std::int64_t length : {1, 5, 37, 300}) {
    ids.push_back(run.random_ids(length, static_cast<std::uint64_t>(length)));
    rows.push_back(all_rows(ids.back().size()));
  }
  Bits alone;
  for (const auto& sequence : ids) alone.append(run.forward(sequence));
  std::vector<model::SequenceInput> batch;
  for (size_t n = 0; n < ids.size(); ++n) batch.push_back({ids[n], rows[n], nullptr});
  EXPECT_EQ(run.forward(batch), alone);
}

TEST_P(SameBits, OneOrThreeThreads) {
  GoldenRun one(GetParam(), 1), three(GetParam(), 3);
  const Ids ids = one.random_ids(300, 7);
  EXPECT_EQ(three.forward(ids), one.forward(ids));
}

TEST_P(SameBits, AfterAnotherPassOrBefore) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(50, 3);
  const Bits fresh = run.forward(ids);
  run.forward(run.random_ids(1500, 4));  // grows every buffer, several passes of the MLP
  EXPECT_EQ(run.forward(ids), fresh);
}

TEST_P(SameBits, SomeLogitRowsOrAll) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(40, 8), wanted = {39, 0, 7, 7, 12};
  const Bits every = run.forward(ids);
  const auto width = static_cast<size_t>(run.model().config().vocabulary);
  Bits expected;
  for (const auto row : wanted) {
    const auto first = every.numbers.begin() + static_cast<std::int64_t>(static_cast<size_t>(row) * width);
    expected.numbers.insert(expected.numbers.end(), first, first + static_cast<std::int64_t>(width));
  }
  EXPECT_EQ(run.forward({{ids, wanted, nullptr}}), expected);
  EXPECT_EQ(run.forward({{ids, {}, nullptr}}), Bits{});
}

// Asks for everything there is, in some layers.
class Watch final : public probe::Probe {
 public:
  explicit Watch(std::vector<std::int64_t> layers) : layers_(std::move(layers)) {}
  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    probe::LayerRequest request;
    if (std::count(layers_.begin(), layers_.end(), address.layer) == 0) return request;
    request.received = request.entropy = request.log_sum_exp = request.first_share = true;
    request.row_weights = request.qk_after = request.qk_before = request.norms = request.value_norm =
        request.dense = true;
    request.states = request.head_norm = true;
    request.previous_keys = previous_;
    request.top = 3;
    request.rows = {0, static_cast<std::int32_t>(extent.query_rows - 1)};
    if (extent.query_rows == 1) request.rows = {0};
    request.groups = 2;
    request.group_of_row.resize(static_cast<size_t>(extent.query_rows), 1);
    request.group_of_row[0] = 0;
    return request;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    taken.push_back(address.layer);
    numbers += record.received.size() + record.qk_before.dot.size() + record.dense.size();
  }

  std::vector<std::int64_t> taken;
  size_t numbers = 0;

 private:
  std::vector<std::int64_t> layers_;
  std::shared_ptr<probe::PreviousKeys> previous_ = std::make_shared<probe::PreviousKeys>(64);
};

TEST_P(SameBits, WatchedOrNot) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(300, 9);
  const Bits unwatched = run.forward(ids);
  std::vector<std::int64_t> layers(static_cast<size_t>(run.model().config().layers));
  std::iota(layers.begin(), layers.end(), 0);
  Watch all(layers), one({1}), none({});
  EXPECT_EQ(run.forward(ids, nullptr, &all), unwatched);
  EXPECT_EQ(run.forward(ids, nullptr, &one), unwatched);
  EXPECT_EQ(run.forward(ids, nullptr, &none), unwatched);
  EXPECT_EQ(all.taken, layers);
  EXPECT_EQ(one.taken, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(none.taken.empty());
  EXPECT_GT(all.numbers, 0u);
}

// What is measured of a sequence does not depend on what it was packed with.
TEST_P(SameBits, StatisticsOfPackedSequencesAreThoseOfEachAlone) {
  GoldenRun run(GetParam());
  class Keep final : public probe::Probe {
   public:
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
      probe::LayerRequest request;
      request.received = request.entropy = request.log_sum_exp = request.qk_after = request.row_weights =
          true;
      request.rows = {static_cast<std::int32_t>(extent.query_rows / 2)};
      return request;
    }
    void take(const probe::Address& address, probe::LayerRecord&& record) override {
      auto& numbers = of_sequence[address.sequence];
      for (const auto* part : {&record.received, &record.entropy, &record.log_sum_exp, &record.qk_after.dot,
                               &record.qk_after.cosine, &record.row_weights}) {
        numbers.insert(numbers.end(), part->begin(), part->end());
      }
    }
    std::map<std::int64_t, std::vector<float>> of_sequence;
  } packed, alone;
  std::vector<Ids> ids;
  std::vector<model::SequenceInput> batch;
  for (const std::int64_t length : {1, 37, 280}) ids.push_back(run.random_ids(length, 20));
  for (size_t n = 0; n < ids.size(); ++n) {
    batch.push_back({ids[n], {}, nullptr});
    batch.back().address.sequence = static_cast<std::int64_t>(n);
  }
  run.forward(batch, &packed);
  for (const auto& input : batch) run.forward({input}, &alone);
  EXPECT_EQ(packed.of_sequence, alone.of_sequence);
}

INSTANTIATE_TEST_SUITE_P(Goldens, SameBits, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
