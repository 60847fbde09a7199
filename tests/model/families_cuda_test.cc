// The families that decode blocks on the GPU, with the numbers of the CPU to rounding: under every grid, over
// a cache of finished blocks, packed, and observed.

#include <gtest/gtest.h>

#include "model/cuda_run.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using model::BlockGrid;
using model::SequenceInput;
using testing::all_rows;
using testing::Bits;
using testing::family_folder;
using testing::GoldenRun;
using testing::Ids;
using testing::relative_difference;

using Grid = std::optional<BlockGrid>;

std::string shown(const Grid& grid) {
  return grid ? "blocks of " + std::to_string(grid->block) + " from " + std::to_string(grid->origin)
              : "no grid";
}

SequenceInput input_of(const Ids& tokens, const Ids& rows, const Grid& grid,
                       model::KvCache* cache = nullptr) {
  SequenceInput input{tokens, rows, cache};
  input.grid = grid;
  return input;
}

class FamilyCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    testing::write_rounded_checkpoint(family_folder(GetParam()), rounded_.path());
    cpu_ = std::make_unique<GoldenRun>(model::Model::load(rounded_.path()));
    gpu_ = std::make_unique<GoldenRun>(model::Model::load(family_folder(GetParam()), Device::kCuda));
    plain_ = std::make_unique<testing::PlainBf16>(rounded_.path());
    block_ = cpu_->model().config().block_length.value_or(4);
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return cpu_->random_ids(count, seed); }
  // Twice what a plain bf16 run loses.
  double bound(const Ids& tokens, const Grid& grid) {
    const Ids rows = all_rows(tokens.size());
    return 2 * relative_difference(plain_->forward(tokens, 0, grid),
                                   cpu_->forward({input_of(tokens, rows, grid)}).numbers);
  }

  testing::TempFolder rounded_;
  std::unique_ptr<GoldenRun> cpu_, gpu_;
  std::unique_ptr<testing::PlainBf16> plain_;
  std::int64_t block_ = 0;
};

TEST_P(FamilyCuda, LogitsUnderEveryGrid) {
  for (const std::int64_t length : {1, 5, 64, 129, 300}) {
    const Ids tokens = ids(length, static_cast<std::uint64_t>(length)), rows = all_rows(tokens.size());
    for (const Grid& grid : {Grid(BlockGrid{block_, 0}), Grid(BlockGrid{4, 3}), Grid(BlockGrid{32, 40}),
                             Grid(BlockGrid{1, 0})}) {
      const auto input = input_of(tokens, rows, grid);
      EXPECT_LE(relative_difference(gpu_->forward({input}).numbers, cpu_->forward({input}).numbers),
                bound(tokens, grid))
          << length << " tokens, " << shown(grid);
    }
  }
}

// A grid that nobody asked for is that of the config, or none.
TEST_P(FamilyCuda, LogitsWithoutAGrid) {
  const Ids tokens = ids(77, 3), rows = all_rows(tokens.size());
  const auto& stated = cpu_->model().config().block_length;
  const bool causal = mask_of(cpu_->model().config()) == AttentionMaskKind::kCausal;
  const Grid grid = causal ? Grid(BlockGrid{1, 0}) : stated ? Grid(BlockGrid{*stated, 0}) : std::nullopt;
  const auto input = input_of(tokens, rows, std::nullopt);
  EXPECT_LE(relative_difference(gpu_->forward({input}).numbers, cpu_->forward({input}).numbers),
            bound(tokens, grid));
}

// Blocks of masks run over the cache and leave nothing in it; then the final block is stored.
TEST_P(FamilyCuda, CachedBlocksAgreeWithRecomputed) {
  const Ids tokens = ids(150, 5);
  for (const BlockGrid grid : {BlockGrid{block_, 0}, BlockGrid{32, 11}}) {
    const Ids rows = all_rows(tokens.size());
    const Bits whole = gpu_->forward({input_of(tokens, rows, grid)});
    model::KvCache cache = gpu_->model().new_cache();
    Bits parts;
    for (std::int64_t begin = 0, end = 0; begin < 150; begin = end) {
      end = ops::visible_end({ops::MaskKind::kBlockCausal, grid.block}, 0, begin, 150, grid.origin);
      const Ids block(tokens.begin() + begin, tokens.begin() + end), other = ids(end - begin, 99),
                                                                     block_rows = all_rows(block.size());
      auto denoised = input_of(other, block_rows, grid, &cache);
      denoised.extends_cache = false;
      gpu_->forward({denoised});
      EXPECT_EQ(cache.length(), begin);
      parts.append(gpu_->forward({input_of(block, block_rows, grid, &cache)}));
      EXPECT_EQ(cache.length(), end);
    }
    EXPECT_LE(relative_difference(parts.numbers, whole.numbers), bound(tokens, grid)) << shown(grid);
  }
}

TEST_P(FamilyCuda, RowsOfACacheAreReplaced) {
  const BlockGrid grid{32, 0};
  const Ids tokens = ids(64, 7), other = ids(8, 8), rows = all_rows(8);
  Bits ours[2];
  for (int on_gpu = 0; on_gpu < 2; ++on_gpu) {
    GoldenRun& run = on_gpu ? *gpu_ : *cpu_;
    model::KvCache cache = run.model().new_cache();
    run.forward({input_of(tokens, {}, grid, &cache)});
    auto replacing = input_of(other, rows, grid, &cache);
    replacing.replaces_from = 40;
    ours[on_gpu] = run.forward({replacing});
    EXPECT_EQ(cache.length(), 64);
    replacing.replaces_from = 48;  // sees what was replaced before
    ours[on_gpu].append(run.forward({replacing}));
  }
  EXPECT_LE(relative_difference(ours[1].numbers, ours[0].numbers), bound(tokens, grid));
}

TEST_P(FamilyCuda, PackedSequencesKeepTheirOwnGrid) {
  const std::vector<BlockGrid> grids = {{4, 0}, {4, 3}, {32, 9}, {1, 0}};
  std::vector<Ids> tokens, rows;
  for (size_t n = 0; n < grids.size(); ++n) {
    tokens.push_back(ids(40 + 31 * static_cast<std::int64_t>(n), n));
    rows.push_back(all_rows(tokens.back().size()));
  }
  std::vector<SequenceInput> batch;
  Bits alone;
  for (size_t n = 0; n < grids.size(); ++n) {
    batch.push_back(input_of(tokens[n], rows[n], grids[n]));
    alone.append(gpu_->forward({batch.back()}));
  }
  EXPECT_LE(relative_difference(gpu_->forward(batch).numbers, alone.numbers), bound(tokens[3], grids[3]));
}

// What is asked for of every layer, kept by name. Where all rows are looked at closely, what keys receive
// need not leave the card; where whole matrices are wanted, layers are not recorded.
enum class Closely { kSomeRows, kAllRows };
class Kept final : public probe::Probe {
 public:
  explicit Kept(Closely closely = Closely::kSomeRows) : closely_(closely) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    r.received = r.entropy = r.row_weights = r.qk_after = r.qk_before = true;
    r.dense = r.first_share = closely_ == Closely::kSomeRows;
    r.top = 3;
    r.groups = 2;
    for (std::int64_t i = 0; i < extent.query_rows; ++i) r.group_of_row.push_back(i % 2 == 0);
    r.rows = {0, static_cast<std::int32_t>(extent.query_rows - 1)};
    if (closely_ == Closely::kAllRows) r.rows = all_rows(static_cast<size_t>(extent.query_rows));
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& r) override {
    const std::string layer = "layer " + std::to_string(address.layer) + " ";
    arrays[layer + "received"] = r.received;
    arrays[layer + "entropy"] = r.entropy;
    arrays[layer + "first_share"] = r.first_share;
    arrays[layer + "row_weights"] = r.row_weights;
    arrays[layer + "top_weights"] = r.top_weights;
    arrays[layer + "dot"] = r.qk_after.dot;
    arrays[layer + "dot before"] = r.qk_before.dot;
    arrays[layer + "cosine"] = r.qk_after.cosine;
    arrays[layer + "dense"] = r.dense;
  }

  std::map<std::string, std::vector<float>> arrays;

 private:
  Closely closely_;
};

void expect_alike(const Kept& ours, const Kept& expected, double allowed, const std::string& what) {
  ASSERT_EQ(ours.arrays.size(), expected.arrays.size());
  for (const auto& [name, numbers] : expected.arrays)
    EXPECT_LE(relative_difference(ours.arrays.at(name), numbers), allowed) << name << ", " << what;
}

TEST_P(FamilyCuda, WhatIsObservedIsWhatTheCpuObserves) {
  const Ids tokens = ids(96, 21);
  for (const BlockGrid grid : {BlockGrid{32, 0}, BlockGrid{4, 0}}) {
    Kept kept[2];
    for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
      (on_gpu ? *gpu_ : *cpu_).forward({input_of(tokens, {}, grid)}, &kept[on_gpu]);
    expect_alike(kept[1], kept[0], 2 * bound(tokens, grid), shown(grid));
  }
}

// Block after block over a cache, each looked at more than once: recorded layers are replayed over more keys.
TEST_P(FamilyCuda, CachedBlocksAreObservedAsByTheCpu) {
  const BlockGrid grid{32, 0};
  const Ids prompt = ids(96, 21), rows = all_rows(32);
  model::KvCache caches[2] = {cpu_->model().new_cache(), gpu_->model().new_cache()};
  for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
    (on_gpu ? *gpu_ : *cpu_).forward({input_of(prompt, {}, grid, &caches[on_gpu])});
  const double allowed = 2 * bound(prompt, grid);
  for (std::uint64_t number = 0; number < 7; ++number) {  // from 96 keys beyond 256
    const Ids block = ids(32, 30 + number);
    for (const Closely closely : {Closely::kSomeRows, Closely::kAllRows}) {
      Kept kept[2] = {Kept(closely), Kept(closely)};
      for (int on_gpu = 0; on_gpu < 2; ++on_gpu) {
        GoldenRun& run = on_gpu ? *gpu_ : *cpu_;
        auto denoised = input_of(block, rows, grid, &caches[on_gpu]);
        denoised.extends_cache = false;
        const Bits unobserved = run.forward({denoised});
        for (int time = 0; time < 3; ++time) {
          kept[on_gpu].arrays.clear();
          EXPECT_EQ(run.forward({denoised}, &kept[on_gpu]), unobserved) << "watching changes no bit";
        }
      }
      expect_alike(kept[1], kept[0], allowed, "block " + std::to_string(number));
    }
    for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
      (on_gpu ? *gpu_ : *cpu_).forward({input_of(block, {}, grid, &caches[on_gpu])});
  }
}

// What precedes a block is stored causally, or as one block; the block over it sees all of it and of itself.
TEST_P(FamilyCuda, ABlockOverACausalOrWholePrefix) {
  const Ids prefix = ids(37, 12), block = ids(4, 13), block_rows = all_rows(4);
  Ids tokens = prefix;
  tokens.insert(tokens.end(), block.begin(), block.end());
  for (const auto before : {ops::BeforeGrid::kCausal, ops::BeforeGrid::kWhole}) {
    const BlockGrid grid{4, 37, before};
    Bits ours[2];
    for (int on_gpu = 0; on_gpu < 2; ++on_gpu) {
      GoldenRun& run = on_gpu ? *gpu_ : *cpu_;
      model::KvCache cache = run.model().new_cache();
      run.forward(
          {input_of(prefix, {}, before == ops::BeforeGrid::kCausal ? BlockGrid{1, 0} : grid, &cache)});
      auto denoised = input_of(block, block_rows, grid, &cache);
      denoised.extends_cache = false;
      ours[on_gpu] = run.forward({denoised});
    }
    EXPECT_LE(relative_difference(ours[1].numbers, ours[0].numbers), bound(tokens, grid));
  }
}

std::vector<std::string> cases_on_the_gpu() {
  auto cases = testing::dense_block_cases();
  cases.insert(cases.end(), {"nemotron-f32", "nemotron-bf16"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyCuda, ::testing::ValuesIn(cases_on_the_gpu()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
