// What is measured of a layer on a GPU: groups that have rows, and how records get the others back.

#include "buoy/model/layer_wants.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "buoy/model/device/device_record.h"

namespace buoy {
namespace {

using Groups = std::vector<std::uint8_t>;
using Places = std::vector<std::int32_t>;

// Sequences of so many rows that ask for what they receive, each with its groups.
struct Asked {
  std::int64_t rows;
  std::int64_t groups;
  Groups group_of_row;
  bool received = true;
};

model::LayerWants wants_of(const std::vector<Asked>& asked) {
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<model::SequenceInput> inputs;
  std::vector<model::LayerObservation> observations(asked.size());
  for (const Asked& one : asked) tokens.emplace_back(static_cast<size_t>(one.rows), 1);
  for (size_t n = 0; n < asked.size(); ++n) {
    inputs.push_back({tokens[n]});
    observations[n].request.received = asked[n].received;
    observations[n].request.groups = asked[n].groups;
    observations[n].request.group_of_row = asked[n].group_of_row;
  }
  return {model::PackedBatch(inputs), std::move(observations)};
}

TEST(LayerWants, GroupsWithoutRowsAreNotMeasured) {
  const auto wants = wants_of({{4, 13, {5, 0, 5, 12}}});
  EXPECT_EQ(wants.groups, 3);
  EXPECT_EQ(wants.group_of_row, (Groups{1, 0, 1, 2}));
  EXPECT_EQ(wants.place_of_group, (Places{0, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1, 2}));
}

TEST(LayerWants, WhereEveryGroupHasRowsNothingChanges) {
  const auto wants = wants_of({{4, 2, {1, 0, probe::kNoGroup, 1}}});
  EXPECT_EQ(wants.groups, 2);
  EXPECT_EQ(wants.group_of_row, (Groups{1, 0, probe::kNoGroup, 1}));
  EXPECT_TRUE(wants.place_of_group.empty());
  EXPECT_TRUE(wants_of({{4, 1, {}}}).place_of_group.empty());
}

TEST(LayerWants, RowsOfNoGroupStayThere) {
  // 7 is no group that was asked for.
  const auto wants = wants_of({{4, 3, {2, probe::kNoGroup, 7, 2}}});
  EXPECT_EQ(wants.groups, 1);
  EXPECT_EQ(wants.group_of_row, (Groups{0, probe::kNoGroup, probe::kNoGroup, 0}));
  EXPECT_EQ(wants.place_of_group, (Places{-1, -1, 0}));
  const auto none = wants_of({{2, 3, {probe::kNoGroup, probe::kNoGroup}}});
  EXPECT_EQ(none.groups, 1);
  EXPECT_EQ(none.place_of_group, (Places{-1, -1, -1}));
}

TEST(LayerWants, SequencesOfABatchShareTheGroups) {
  const auto wants = wants_of({{2, 4, {3, 3}}, {3, 2, {1, 1, 0}}, {2, 1, {}}, {1, 16, {}, false}});
  EXPECT_EQ(wants.groups, 3);
  EXPECT_EQ(wants.group_of_row, (Groups{2, 2, 1, 1, 0, 0, 0, probe::kNoGroup}));
  EXPECT_EQ(wants.place_of_group, (Places{0, 1, -1, 2}));
}

// Few rows over a cache, of groups 2, 0 and 2, and a row of none; `change` says what else is asked for.
model::LayerWants wants_of_rows(std::int64_t rows,
                                const std::function<void(probe::LayerRequest&)>& change = {},
                                bool cached = true) {
  const std::vector<std::int32_t> tokens(static_cast<size_t>(rows), 1);
  model::KvCache cache(1, 8);
  model::SequenceInput input{tokens, {}, cached ? &cache : nullptr};
  std::vector<model::LayerObservation> observations(1);
  probe::LayerRequest& r = observations[0].request;
  r.received = r.row_weights = true;
  r.groups = 3;
  r.group_of_row = {2, 0, 2, probe::kNoGroup};
  r.group_of_row.resize(tokens.size(), probe::kNoGroup);
  r.rows = {0, 1, 2};
  if (change) change(r);
  return {model::PackedBatch({&input, 1}), std::move(observations)};
}

TEST(LayerWants, RowsThatLeaveTheCardGiveWhatKeysReceive) {
  for (const std::int64_t rows : {4, 64}) {
    const auto wants = wants_of_rows(rows);
    EXPECT_FALSE(wants.received);
    EXPECT_TRUE(wants.statistics());
    EXPECT_EQ(wants.groups, 1);
    EXPECT_TRUE(wants.group_of_row.empty() && wants.place_of_group.empty());
  }
  // A row that is looked at closely and counts nowhere does no harm.
  EXPECT_FALSE(wants_of_rows(4, [](auto& r) { r.rows = {0, 1, 2, 3}; }).received);
}

TEST(LayerWants, WhereTheyDoNotItIsMeasured) {
  const auto measured = [](const model::LayerWants& wants) { return wants.received; };
  EXPECT_TRUE(measured(wants_of_rows(4, [](auto& r) { r.rows = {0, 2}; }))) << "row 1 counts";
  EXPECT_TRUE(measured(wants_of_rows(4, [](auto& r) { r.group_of_row.clear(); }))) << "row 3 counts";
  EXPECT_TRUE(measured(wants_of_rows(4, [](auto& r) { r.row_weights = false, r.top = 2; })));
  EXPECT_TRUE(measured(wants_of_rows(4, [](auto& r) { r.followed = probe::FollowedRows::kAll; })));
  EXPECT_TRUE(measured(wants_of_rows(4, [](auto& r) {
    auto sets = std::make_shared<KeySets>();
    sets->add(4, [](std::int32_t) { return true; });
    r.key_sets = std::move(sets);
    r.group_mass = true;
  })));
  EXPECT_TRUE(measured(wants_of_rows(65))) << "many rows";
  EXPECT_TRUE(measured(wants_of_rows(4, {}, false))) << "no cache";
}

// What a card would leave for one sequence of `keys` keys: numbers by place.
struct Results {
  Results(const model::LayerWants& wants, const ModelConfig& config, std::int64_t columns)
      : layout(config, wants, 4, columns, columns, 1), numbers(static_cast<size_t>(layout.size)) {
    std::iota(numbers.begin(), numbers.end(), 1.0f);
  }
  model::ObservationLayout layout;
  std::vector<float> numbers;
};

ModelConfig small_config() {
  ModelConfig config;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.hidden = 32;
  config.layers = 1;
  return config;
}

TEST(RecordPlace, GroupsWithoutRowsGetZeros) {
  constexpr std::int64_t kKeys = 6;
  const ModelConfig config = small_config();
  for (const std::int64_t columns : {kKeys, std::int64_t{9}}) {
    const auto wants = wants_of({{4, 5, {3, 1, 1, 3}}});
    const Results results(wants, config, columns);
    model::RecordPlace place;
    place.request = wants.observations[0].request;
    place.states = {4, kKeys, 2, config.heads, config.kv_heads, config.head_dim};
    place.layout = results.layout;
    place.rows = 4;
    place.columns = columns;
    place.groups = wants.groups;
    place.hidden = config.hidden;
    place.place_of_group = wants.place_of_group;
    probe::LayerRecord record;
    record.received.assign(3, 7.0f);  // of another layer
    ThreadPool threads(2);
    const Context context{threads};
    for (const Context* with : {static_cast<const Context*>(nullptr), &context}) {
      place.fill(results.numbers.data(), record, with);
      ASSERT_EQ(record.received.size(), static_cast<size_t>(5 * config.heads * kKeys));
      for (std::int64_t i = 0; i < std::ssize(record.received); ++i) {
        const std::int64_t key = i % kKeys, head = i / kKeys % config.heads, group = i / kKeys / config.heads,
                           held = group == 1   ? 0
                                  : group == 3 ? 1
                                               : -1;
        const float expected =
            held < 0 ? 0.0f
                     : results.numbers[static_cast<size_t>(results.layout.received +
                                                           (held * config.heads + head) * columns + key)];
        ASSERT_EQ(record.received[static_cast<size_t>(i)], expected) << "group " << group << ", key " << key;
      }
    }
  }
}

// By another order of loops. Large enough for threads, and not.
TEST(RecordPlace, RowsAreSummedUpByGroup) {
  const ModelConfig config = small_config();
  ThreadPool threads(2);
  const Context context{threads};
  for (const std::int64_t keys : {6, 30000}) {
    const auto wants = wants_of_rows(4);
    const Results results(wants, config, keys + 3);
    model::RecordPlace place;
    place.request = wants.observations[0].request;
    place.states = {4, keys, 2, config.heads, config.kv_heads, config.head_dim};
    place.layout = results.layout;
    place.rows = 4;
    place.columns = keys + 3;
    for (const Context* with : {static_cast<const Context*>(nullptr), &context}) {
      probe::LayerRecord record;
      record.received.assign(3, 7.0f);  // of another layer
      place.fill(results.numbers.data(), record, with);
      std::vector<float> expected(static_cast<size_t>(3 * config.heads * keys));
      for (std::int64_t row = 0; row < 3; ++row) {
        const std::int64_t group = row == 1 ? 0 : 2;
        for (std::int64_t i = 0; i < config.heads * keys; ++i)
          expected[static_cast<size_t>(group * config.heads * keys + i)] +=
              record.row_weights[static_cast<size_t>(row * config.heads * keys + i)];
      }
      EXPECT_EQ(record.received, expected);
      const std::int64_t second = results.layout.row_weights + results.layout.row_weight_stride;
      EXPECT_EQ(record.row_weights[static_cast<size_t>(keys)], results.numbers[static_cast<size_t>(second)]);
    }
  }
}

TEST(RecordPlace, LengthsOfTurnedRowsAreThoseOfTheOthers) {
  constexpr std::int64_t kKeys = 6;
  const ModelConfig config = small_config();
  auto wants = wants_of({{4, 1, {}}});
  wants.qk_after = wants.qk_before = true;
  const Results results(wants, config, kKeys);
  model::RecordPlace place;
  place.request = wants.observations[0].request;
  place.request.received = false;
  place.request.qk_after = place.request.qk_before = true;
  place.states = {4, kKeys, 2, config.heads, config.kv_heads, config.head_dim};
  place.layout = results.layout;
  place.rows = 4;
  place.columns = kKeys;
  probe::LayerRecord record;
  place.fill(results.numbers.data(), record, nullptr);
  EXPECT_EQ(record.qk_before.norm_product, record.qk_after.norm_product);
  EXPECT_EQ(record.qk_before.self_dot, record.qk_after.self_dot);
  EXPECT_EQ(record.qk_before.dot[0], results.numbers[static_cast<size_t>(results.layout.before)]);
  EXPECT_EQ(record.qk_before.cosine[0],
            results.numbers[static_cast<size_t>(results.layout.before + config.heads * kKeys)]);
  EXPECT_NE(record.qk_before.dot, record.qk_after.dot);
  EXPECT_TRUE(record.received.empty());
}

}  // namespace
}  // namespace buoy
