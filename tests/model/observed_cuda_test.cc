// Observation and change on the GPU: watching changes no bit, records are those of the CPU to rounding,
// each sequence gets its own part of a packed batch.

#include <gtest/gtest.h>

#include "model/cuda_run.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::CudaRun;
using testing::Ids;
using testing::relative_difference;

// Asks for everything, keeps it by sequence and layer.
class KeepAll final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    if (skip_layer == address.layer) return r;
    r.received = r.entropy = r.log_sum_exp = r.first_share = r.row_weights = true;
    r.qk_after = r.qk_before = r.norms = r.value_norm = r.dense = r.dense_mean = r.states = true;
    r.head_norm = true;
    r.top = 3;
    r.groups = 3;
    for (std::int64_t i = 0; i < extent.query_rows; ++i)
      r.group_of_row.push_back(static_cast<std::uint8_t>(i % 4));
    r.rows = {0};
    r.row_mass = r.group_mass = true;
    r.followed = address.sequence % 2 == 1 ? probe::FollowedRows::kLast : probe::FollowedRows::kAll;
    r.key_sets = sets_of(address.sequence, extent.key_rows);
    if (extent.query_rows > 4) r.rows.push_back(static_cast<std::int32_t>(extent.query_rows - 2));
    return r;
  }
  probe::Change change(const probe::Address& address, const probe::LayerExtent&) override {
    return address.sequence == changed ? probe::Change{bias, scale} : probe::Change{};
  }
  void take(const probe::Address& address, probe::LayerRecord&& r) override {
    const probe::LayerStates& s = r.states;
    auto& kept = records[{address.sequence, address.layer}];
    kept["before.dot"] = r.qk_before.dot;
    kept["queries"] = {s.queries, s.queries + s.query_rows * s.heads * s.head_dim};
    kept["keys"] = {s.keys, s.keys + s.key_rows * s.kv_heads * s.head_dim};
    kept["values"] = {s.values, s.values + s.key_rows * s.kv_heads * s.head_dim};
    order.push_back(address.layer);
    if (context != nullptr) expect_of_own_states(address, r);
  }

  // Every sequence has another number of sets.
  const std::shared_ptr<const KeySets>& sets_of(std::int64_t sequence, std::int64_t keys) {
    auto& sets = key_sets[{sequence, keys}];
    if (sets) return sets;
    auto made = std::make_shared<KeySets>();
    for (std::int64_t set = 0; set < 3 + sequence; ++set)
      made->add(keys, [&](std::int32_t key) { return key % (set + 2) == 0; });
    return sets = std::move(made);
  }

  // What is reported must follow from the very queries and keys the card worked on: the CPU measures those.
  void expect_of_own_states(const probe::Address& address, const probe::LayerRecord& r) {
    const probe::LayerStates& s = r.states;
    const ops::MaskKind mask = s.prefix > 0 ? ops::MaskKind::kPrefix
                               : s.causal   ? ops::MaskKind::kCausal
                                            : ops::MaskKind::kBidirectional;
    const ops::AttentionShape shape{s.heads, s.kv_heads, s.head_dim, {mask, 0}};
    model::LayerObservation observation;
    observation.request = request(address, {s.query_rows, s.key_rows, s.heads, {}});
    observation.request.qk_before = observation.request.states = false;
    std::vector<float> output(static_cast<size_t>(s.query_rows * s.heads * s.head_dim)),
        top(static_cast<size_t>(s.heads * s.query_rows)), sum(top.size());
    ops::AttentionSequence sequence{s.queries,  s.query_rows, s.first_position, s.keys,     s.values,
                                    s.key_rows, nullptr,      output.data(),    top.data(), sum.data()};
    sequence.prefix = s.prefix;
    if (address.sequence == changed) {
      sequence.key_bias = bias.data();
      sequence.key_bias_stride = static_cast<std::int64_t>(bias.size()) > s.key_rows ? s.key_rows : 0;
    }
    ops::AttentionScratch scratch;
    ops::attention(*context, shape, std::span(&sequence, 1), scratch);
    const auto expected = model::measure(*context, shape, sequence, observation);
    const auto expect = [&](const char* name, std::span<const float> ours, std::span<const float> theirs) {
      // Half a unit in the last place of bf16, in which the second pass holds weights.
      EXPECT_LE(relative_difference(ours, theirs), 1.0 / 256)
          << name << " of sequence " << address.sequence << ", layer " << address.layer;
    };
    expect("received", r.received, expected.received);
    expect("followed", r.followed, expected.followed);
    expect("entropy", r.entropy, expected.entropy);
    expect("log_sum_exp", r.log_sum_exp, expected.log_sum_exp);
    expect("first_share", r.first_share, expected.first_share);
    expect("row_weights", r.row_weights, expected.row_weights);
    expect("row_mass", r.row_mass, expected.row_mass);
    expect("group_mass", r.group_mass, expected.group_mass);
    EXPECT_EQ(std::ssize(r.row_mass),
              std::ssize(observation.request.rows) * s.heads * (3 + address.sequence));
    expect("top_weights", r.top_weights, expected.top_weights);
    expect("dot", r.qk_after.dot, expected.qk_after.dot);
    expect("cosine", r.qk_after.cosine, expected.qk_after.cosine);
    expect("norm_product", r.qk_after.norm_product, expected.qk_after.norm_product);
    expect("self_dot", r.qk_after.self_dot, expected.qk_after.self_dot);
    // A rotation by the same angle keeps the product of a position with itself.
    expect("self_dot before", r.qk_before.self_dot, expected.qk_after.self_dot);
    expect("query_norm", r.query_norm, expected.query_norm);
    expect("key_norm", r.key_norm, expected.key_norm);
    expect("value_norm", r.value_norm, expected.value_norm);
    // Factors on heads are not known here.
    if (address.sequence != changed) expect("head_norm", r.head_norm, expected.head_norm);
    expect("dense", r.dense, expected.dense);
    expect("dense_mean", r.dense_mean, expected.dense_mean);
    EXPECT_EQ(r.top_keys.size(), expected.top_keys.size());
  }

  const Context* context = nullptr;  // to measure the card's own states with
  std::int64_t skip_layer = -1, changed = -1;
  std::vector<float> bias, scale;
  std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const KeySets>> key_sets;
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::string, std::vector<float>>> records;
  std::vector<std::int64_t> order;
};

class ObservedCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    run_ = std::make_unique<CudaRun>(GetParam());
    context_ = std::make_unique<Context>(run_->context());
    // The states of a layer, by what a plain bf16 run loses until the logits, twice.
    bound_ = 2 * run_->bound(run_->cpu().random_ids(131, 6));
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return run_->cpu().random_ids(count, seed); }
  void expect_alike(const KeepAll& ours, const KeepAll& expected) {
    ASSERT_EQ(ours.records.size(), expected.records.size());
    for (const auto& [address, kept] : expected.records) {
      for (const auto& [name, numbers] : kept) {
        EXPECT_LE(relative_difference(ours.records.at(address).at(name), numbers), bound_)
            << name << " of sequence " << address.first << ", layer " << address.second;
      }
    }
  }

  std::unique_ptr<CudaRun> run_;
  std::unique_ptr<Context> context_;
  double bound_ = 0;
};

TEST_P(ObservedCuda, WatchingChangesNoBit) {
  const Ids tokens = ids(200, 4);
  const Bits unwatched = run_->forward(tokens);
  KeepAll all, some;
  some.skip_layer = 0;
  EXPECT_EQ(run_->forward(tokens, nullptr, &all), unwatched);
  EXPECT_EQ(run_->forward(tokens, nullptr, &some), unwatched);
  EXPECT_TRUE(std::is_sorted(all.order.begin(), all.order.end()));
  EXPECT_EQ(static_cast<std::int64_t>(all.order.size()), run_->model().config().layers);
  EXPECT_EQ(some.order.size() + 1, all.order.size());
}

TEST_P(ObservedCuda, RecordsLikeTheCpuPackedAndAlone) {
  const Ids first = ids(70, 5), second = ids(131, 6), rows1 = all_rows(first.size()),
            rows2 = all_rows(second.size());
  const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, 0, 0, 0}},
                                                   {second, rows2, nullptr, {1, 0, 0, 0}}};
  KeepAll cpu, packed;
  packed.context = context_.get();
  run_->cpu().forward(batch, &cpu);
  run_->forward(batch, &packed);
  expect_alike(packed, cpu);
}

TEST_P(ObservedCuda, RecordsWithACache) {
  if (!run_->cpu().causal()) GTEST_SKIP() << "bidirectional";
  const Ids past = ids(40, 7), now = ids(9, 8);
  KeepAll cpu, ours;
  ours.context = context_.get();
  model::KvCache cpu_cache = run_->cpu().model().new_cache(), cache = run_->model().new_cache();
  run_->cpu().forward(past, &cpu_cache);
  run_->cpu().forward(now, &cpu_cache, &cpu);
  run_->forward(past, &cache);
  run_->forward(now, &cache, &ours);
  expect_alike(ours, cpu);
}

TEST_P(ObservedCuda, ChangesActOnTheirSequenceAlone) {
  const Ids first = ids(50, 9), second = ids(60, 10), rows1 = all_rows(first.size()),
            rows2 = all_rows(second.size());
  const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, 0, 0, 0}},
                                                   {second, rows2, nullptr, {1, 0, 0, 0}}};
  const auto heads = static_cast<size_t>(run_->model().config().heads);
  for (const bool per_head : {false, true}) {
    KeepAll cpu, ours;
    cpu.changed = 1;
    cpu.bias.assign((per_head ? heads : 1) * second.size(), 0.0f);
    cpu.bias[17] = -std::numeric_limits<float>::infinity();
    cpu.bias[20] = 1.5f;
    cpu.scale.assign(heads, 1.0f);
    cpu.scale[1] = 0.25f;
    ours.changed = 1;
    ours.context = context_.get();
    ours.bias = cpu.bias;
    ours.scale = cpu.scale;
    const Bits expected = run_->cpu().forward(batch, &cpu), found = run_->forward(batch, &ours);
    EXPECT_LE(relative_difference(found.numbers, expected.numbers), bound_);
    expect_alike(ours, cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, ObservedCuda, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
