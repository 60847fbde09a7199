// Families with experts on the GPU, with the numbers of the CPU to rounding: alone, packed, over a cache,
// observed, with MLPs that are damped; and what their routers decide.

#include <gtest/gtest.h>

#include "buoy/model/device/head_order.h"
#include "model/cuda_run.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using model::SequenceInput;
using testing::all_rows;
using testing::Bits;
using testing::family_folder;
using testing::GoldenRun;
using testing::Ids;
using testing::relative_difference;

class ExpertFamilyCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    testing::write_rounded_checkpoint(family_folder(GetParam()), rounded_.path());
    cpu_ = std::make_unique<GoldenRun>(model::Model::load(rounded_.path()));
    gpu_ = std::make_unique<GoldenRun>(model::Model::load(rounded_.path(), Device::kCuda));
    plain_ = std::make_unique<testing::PlainBf16>(rounded_.path());
    if (const auto block = config().block_length; block && may_decode_blocks(config().family))
      grid_ = model::BlockGrid{*block, 0};
  }
  const ModelConfig& config() const { return cpu_->model().config(); }
  Ids ids(std::int64_t count, std::uint64_t seed) { return cpu_->random_ids(count, seed); }
  // Twice what a plain bf16 run loses.
  double bound(const Ids& tokens) {
    const Ids rows = all_rows(tokens.size());
    return 2 * relative_difference(plain_->forward(tokens, 0, grid_),
                                   cpu_->forward({SequenceInput{tokens, rows}}).numbers);
  }

  testing::TempFolder rounded_;
  std::unique_ptr<GoldenRun> cpu_, gpu_;
  std::unique_ptr<testing::PlainBf16> plain_;
  std::optional<model::BlockGrid> grid_;
};

// Of many rows together: a single one that goes to another expert, where two are nearly alike, outweighs all
// rounding, and whether that happens to the card or to the plain run is chance.
TEST_P(ExpertFamilyCuda, Logits) {
  std::vector<float> ours, plain, exact;
  for (const std::int64_t length : {1, 5, 64, 130, 131, 132, 133, 300}) {
    const Ids tokens = ids(length, static_cast<std::uint64_t>(length)), rows = all_rows(tokens.size());
    const SequenceInput input{tokens, rows};
    const auto append = [](std::vector<float>& to, const std::vector<float>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(ours, gpu_->forward({input}).numbers);
    append(plain, plain_->forward(tokens, 0, grid_));
    append(exact, cpu_->forward({input}).numbers);
  }
  EXPECT_LE(relative_difference(ours, exact), 2 * relative_difference(plain, exact));
}

TEST_P(ExpertFamilyCuda, PackedSequences) {
  std::vector<Ids> tokens, rows;
  for (const std::int64_t length : {40, 7, 133}) {
    tokens.push_back(ids(length, static_cast<std::uint64_t>(length)));
    rows.push_back(all_rows(tokens.back().size()));
  }
  std::vector<SequenceInput> batch;
  Bits alone;
  for (size_t n = 0; n < tokens.size(); ++n) {
    batch.push_back({tokens[n], rows[n]});
    alone.append(gpu_->forward({batch.back()}));
  }
  EXPECT_LE(relative_difference(gpu_->forward(batch).numbers, alone.numbers), bound(tokens[2]));
}

// The same forward three times: prepared, recorded, replayed; watched or not.
TEST_P(ExpertFamilyCuda, WatchingAndReplayingChangeNoBit) {
  class Watcher final : public probe::Probe {
   public:
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
      probe::LayerRequest r;
      r.received = r.entropy = r.routing = true;
      return r;
    }
    void take(const probe::Address& address, probe::LayerRecord&& record) override {
      records.push_back({address.layer, record.routing.experts, record.routing.weights});
    }
    std::vector<std::tuple<std::int64_t, Ids, std::vector<float>>> records;
  };
  const Ids tokens = ids(70, 2), rows = all_rows(tokens.size());
  const SequenceInput input{tokens, rows};
  const Bits once = gpu_->forward({input});
  std::optional<Watcher> first;
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(gpu_->forward({input}), once);
    Watcher watcher;
    EXPECT_EQ(gpu_->forward({input}, &watcher), once);
    if (!first) first.emplace(watcher);
    EXPECT_EQ(watcher.records, first->records);
  }
}

// What is asked for of every layer.
class Kept final : public probe::Probe {
 public:
  explicit Kept(float mlp_scale = 1) : scale_(mlp_scale) {}
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest r;
    r.received = r.states = r.qk_after = r.qk_before = r.routing = true;
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& r) override {
    const std::string layer = "layer " + std::to_string(address.layer) + " ";
    const auto states = [](const float* from, std::int64_t rows, std::int64_t heads, std::int64_t dim) {
      return std::vector<float>(from, from + rows * heads * dim);
    };
    arrays[layer + "received"] = r.received;
    arrays[layer + "queries"] =
        states(r.states.queries, r.states.query_rows, r.states.heads, r.states.head_dim);
    arrays[layer + "keys"] = states(r.states.keys, r.states.key_rows, r.states.kv_heads, r.states.head_dim);
    arrays[layer + "dot"] = r.qk_after.dot;
    arrays[layer + "dot before"] = r.qk_before.dot;
    routing[address.layer] = std::move(r.routing);
  }
  probe::Change change(const probe::Address&, const probe::LayerExtent&) override {
    probe::Change change;
    change.mlp_scale = scale_;
    return change;
  }

  std::map<std::string, std::vector<float>> arrays;
  std::map<std::int64_t, probe::RoutingRecord> routing;

 private:
  float scale_;
};

TEST_P(ExpertFamilyCuda, WhatIsObservedIsWhatTheCpuObserves) {
  const Ids tokens = ids(96, 21);
  Kept kept[2];
  for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
    (on_gpu ? *gpu_ : *cpu_).forward({SequenceInput{tokens, {}}}, &kept[on_gpu]);
  const double allowed = 2 * bound(tokens);
  ASSERT_EQ(kept[1].arrays.size(), kept[0].arrays.size());
  for (const auto& [name, numbers] : kept[0].arrays)
    EXPECT_LE(relative_difference(kept[1].arrays.at(name), numbers), allowed) << name;
}

TEST_P(ExpertFamilyCuda, RoutersDecideAsOnTheCpu) {
  const Ids tokens = ids(128, 22);
  Kept kept[2];
  for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
    (on_gpu ? *gpu_ : *cpu_).forward({SequenceInput{tokens, {}}}, &kept[on_gpu]);
  size_t same = 0, all = 0;
  for (const auto& [layer, expected] : kept[0].routing) {
    const probe::RoutingRecord& found = kept[1].routing.at(layer);
    ASSERT_EQ(found.experts.size(), expected.experts.size());
    ASSERT_EQ(found.load.size(), expected.load.size());
    if (!is_mixture(config(), layer)) {
      EXPECT_EQ(found.experts, expected.experts);
      continue;
    }
    for (size_t i = 0; i < expected.experts.size(); ++i) same += found.experts[i] == expected.experts[i];
    all += expected.experts.size();
    EXPECT_LE(relative_difference(found.entropy, expected.entropy), bound(tokens)) << layer;
    float load = 0;
    for (const float one : found.load) load += one;
    EXPECT_EQ(load, static_cast<float>(found.experts.size()));
  }
  EXPECT_GE(static_cast<double>(same), 0.9 * static_cast<double>(all));  // the others are nearly ties
}

TEST_P(ExpertFamilyCuda, DampedMlps) {
  const Ids tokens = ids(50, 23), rows = all_rows(tokens.size());
  const SequenceInput input{tokens, rows};
  for (const float scale : {0.0f, 0.5f}) {
    Kept ours(scale), theirs(scale);
    EXPECT_LE(
        relative_difference(gpu_->forward({input}, &ours).numbers, cpu_->forward({input}, &theirs).numbers),
        2 * bound(tokens))
        << scale;
    EXPECT_EQ(ours.routing.size(), theirs.routing.size());
    for (const auto& [layer, record] : theirs.routing)
      EXPECT_EQ(ours.routing.at(layer).experts.size(), record.experts.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ExpertFamilyCuda, ::testing::ValuesIn(testing::expert_cases()),
                         testing::golden_case_name);

// A router in float32 is the sum of two parts on the card; everything else is rounded there.
TEST(ExpertsInFloatCuda, Logits) {
  BUOY_NEEDS_GPU();
  for (const char* name : {"llada2-f32", "qwen3-moe-f32", "llada-moe-bias-f32"}) {
    GoldenRun cpu(model::Model::load(family_folder(name)));
    GoldenRun gpu(model::Model::load(family_folder(name), Device::kCuda));
    const testing::PlainBf16 plain(family_folder(name));
    const Ids tokens = cpu.random_ids(90, 4), rows = all_rows(tokens.size());
    const SequenceInput input{tokens, rows};
    const auto expected = cpu.forward({input}).numbers;
    std::optional<model::BlockGrid> grid;
    if (may_decode_blocks(cpu.model().config().family)) grid = {*cpu.model().config().block_length, 0};
    EXPECT_LE(relative_difference(gpu.forward({input}).numbers, expected),
              2 * relative_difference(plain.forward(tokens, 0, grid), expected))
        << name;
  }
}

TEST(HeadOrder, PairsStandHalfAHeadApartAndComeBack) {
  ModelConfig config{};
  config.head_dim = 8;
  config.rope.rotary_dim = 4;
  EXPECT_EQ(model::device_head_order(config), (std::vector<std::int64_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17};
  auto ordered = model::in_head_order(values, model::device_head_order(config));
  EXPECT_EQ(ordered[4], 2);
  EXPECT_EQ(ordered[10], 14);
  model::restore_head_order(ordered, model::device_head_order(config));
  EXPECT_EQ(ordered, values);
  const auto frequencies = model::device_rope_frequencies(config);
  ASSERT_EQ(frequencies.size(), 4u);
  EXPECT_GT(frequencies[1], 0);
  EXPECT_EQ(frequencies[2], 0);
  config.rope.rotary_dim = 8;
  EXPECT_TRUE(model::device_head_order(config).empty());
}

}  // namespace
}  // namespace buoy
