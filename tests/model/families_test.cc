// Logits and attention of the families that decode blocks, under every reading of tools/goldens/FAMILIES.md,
// by the bounds of parity_test.cc; what their loader refuses; that a cache of finished blocks changes no bit.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/model/block_grid.h"
#include "buoy/model/model.h"
#include "buoy/model/model_reference.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy {
namespace {

using namespace testing;
using model::BlockGrid;
using model::Model;
using model::SequenceInput;

class DenseAttention final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.dense = true;
    return request;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    layers[address.layer] = {record.dense.begin(), record.dense.end()};
  }

  std::map<std::int64_t, std::vector<double>> layers;
};

void expect_within(const Golden& golden, const std::string& array, const std::vector<double>& ours) {
  const auto exact = golden.numbers(array + "_f64");
  ASSERT_EQ(ours.size(), exact.size()) << array;
  EXPECT_LE(rms_difference(ours, exact), 2 * rms_difference(golden.numbers(array + "_f32"), exact)) << array;
}

std::vector<std::int32_t> all_rows(size_t count) {
  std::vector<std::int32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

struct Reading {
  const char* name;
  std::optional<BlockGrid> grid;
};

// Of Nemotron: the prompt and what was decoded before, causally, then a block; or the prompt as a whole, then
// blocks. A model that is causal by itself is asked to see everything.
std::vector<Reading> readings_of(const ModelConfig& config) {
  using ops::BeforeGrid;
  const bool causal = mask_of(config) == AttentionMaskKind::kCausal;
  return {{"full", causal ? std::optional(model::whole_sequence()) : std::nullopt},
          {"causal", std::nullopt},
          {"block4", BlockGrid{4}},
          {"block8", BlockGrid{8}},
          {"block4_origin3", BlockGrid{4, 3}},
          {"causal5_then_block4", BlockGrid{4, 5, BeforeGrid::kCausal}},
          {"prompt5_then_blocks2", BlockGrid{2, 5, BeforeGrid::kWhole}}};
}

class FamilyParity : public ::testing::TestWithParam<std::string> {};

TEST_P(FamilyParity, LogitsAndAttention) {
  const Golden golden(family_folder(GetParam()));
  ThreadPool threads(2);
  const Context context{threads};
  Model model = Model::load(golden.folder());
  const auto ids = golden.ids("A.ids");
  const auto rows = all_rows(ids.size());
  int readings = 0;
  for (const Reading& reading : readings_of(model.config())) {
    const std::string name = std::string("A.") + reading.name;
    if (!golden.has(name + ".logits_f64")) continue;
    SCOPED_TRACE(name);
    DenseAttention dense;
    SequenceInput input{ids, rows};
    input.grid = reading.grid;
    const float* logits = model.forward(context, {&input, 1}, &dense);
    const std::vector<double> ours(logits,
                                   logits + ids.size() * static_cast<size_t>(model.config().vocabulary));
    expect_within(golden, name + ".logits", ours);
    if (golden.has(name + ".logits_plain16")) {
      const auto exact = golden.numbers(name + ".logits_f64");
      EXPECT_LE(rms_difference(ours, exact),
                2 * rms_difference(golden.numbers(name + ".logits_plain16"), exact));
    }
    for (std::int64_t layer = 0; layer < model.config().layers; ++layer)
      expect_within(golden, name + ".layer_" + std::to_string(layer) + "_attention", dense.layers.at(layer));
    // The grid that the config states is the one that is used when none is asked for.
    if (reading.grid && model.config().block_length == reading.grid->block && reading.grid->origin == 0) {
      input.grid.reset();
      const float* unasked = model.forward(context, {&input, 1});
      EXPECT_TRUE(std::equal(ours.begin(), ours.end(), unasked));
    }
    ++readings;
  }
  const std::map<std::string, int> several = {
      {"a2d-qwen3-f32", 2}, {"sdar-f32", 2}, {"nemotron-f32", 3}, {"open-dcoder-f32", 2}};
  const auto expected = several.find(GetParam());
  EXPECT_GE(readings, expected == several.end() ? 1 : expected->second);
}

// Readings with other keys in the config: YaRN's factor 0.25, and an attention factor that is not 1.
TEST(FamilyReadings, OfOtherConfigs) {
  for (const char* name : {"nemotron-f32"}) {
    const Golden golden(family_folder(name));
    const auto path = golden.folder() / "readings.json";
    const Json readings = parse_json(read_file(path), path.string());
    ASSERT_EQ(readings.size(), 2u);
    for (const auto& [reading, keys] : readings.items()) {
      SCOPED_TRACE(std::string(name) + " " + reading);
      const ChangedFamily changed(name, keys);
      Model model = Model::load(changed.folder());
      ThreadPool threads(2);
      const auto ids = golden.ids("A.ids");
      const auto rows = all_rows(ids.size());
      const SequenceInput input{ids, rows};
      const float* logits = model.forward({threads}, {&input, 1});
      expect_within(golden, "A." + reading + ".logits",
                    {logits, logits + ids.size() * static_cast<size_t>(model.config().vocabulary)});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyParity, ::testing::ValuesIn(dense_family_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Finished blocks in a cache, the current one over it and not stored, then stored: the bits of the whole
// sequence.
TEST(BlockCacheBits, CachedEqualsRecomputed) {
  ThreadPool threads(2);
  const Context context{threads};
  for (const auto& [name, grid] : {std::pair{"sdar-f32", BlockGrid{4}},
                                   {"a2d-qwen3-bf16", BlockGrid{4, 3}},
                                   {"fast-dllm-v2-f32", BlockGrid{8}}}) {
    Model model = Model::load(family_folder(name));
    const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
    std::vector<std::int32_t> tokens;
    for (std::int32_t i = 0; i < 23; ++i) tokens.push_back(i * 7 % 70);
    const auto rows = all_rows(tokens.size());
    SequenceInput whole{tokens, rows};
    whole.grid = grid;
    const float* logits = model.forward(context, {&whole, 1});
    const std::vector<float> expected(logits, logits + tokens.size() * vocabulary);

    model::KvCache cache = model.new_cache();
    std::int64_t begin = 0;
    while (begin < 23) {
      const std::int64_t end =
          ops::visible_end({ops::MaskKind::kBlockCausal, grid.block}, 0, begin, 23, grid.origin);
      const std::span block =
          std::span(tokens).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      const std::vector<std::int32_t> masked(block.size(), 75);
      SequenceInput denoised{masked, {}, &cache};  // what is not final leaves no trace
      denoised.grid = grid;
      denoised.extends_cache = false;
      model.forward(context, {&denoised, 1});
      EXPECT_EQ(cache.length(), begin);
      const auto block_rows = all_rows(block.size());
      SequenceInput final{block, block_rows, &cache};
      final.grid = grid;
      const float* cached = model.forward(context, {&final, 1});
      EXPECT_TRUE(std::equal(cached, cached + block.size() * vocabulary,
                             expected.begin() + begin * static_cast<std::int64_t>(vocabulary)))
          << name << " from " << begin;
      EXPECT_EQ(cache.length(), end);
      begin = end;
    }
  }
}

// A prefix that was stored causally, or as one block, then a block over it: the bits of one forward under a
// grid with that prefix before it.
TEST(BlockCacheBits, APrefixInTheCacheEqualsTheGridBehindIt) {
  ThreadPool threads(2);
  const Context context{threads};
  const std::vector<std::int32_t> tokens = {5, 16, 27, 38, 49, 50, 51, 52, 53};
  const auto rows = all_rows(tokens.size()), block_rows = all_rows(4);
  for (const char* name : {"nemotron-f32", "nemotron-bf16"}) {
    Model model = Model::load(family_folder(name));
    const std::int64_t vocabulary = model.config().vocabulary;
    for (const auto before : {ops::BeforeGrid::kCausal, ops::BeforeGrid::kWhole}) {
      SequenceInput whole{tokens, rows};
      whole.grid = BlockGrid{4, 5, before};
      const float* logits = model.forward(context, {&whole, 1});
      const std::vector<float> expected(logits, logits + 9 * vocabulary);
      model::KvCache cache = model.new_cache();
      const auto prefix_rows = all_rows(5);
      SequenceInput prefix{std::span(tokens).first(5), prefix_rows, &cache};
      prefix.grid = before == ops::BeforeGrid::kCausal ? BlockGrid{1} : BlockGrid{5};
      const float* stored = model.forward(context, {&prefix, 1});
      EXPECT_TRUE(std::equal(stored, stored + 5 * vocabulary, expected.begin()));
      SequenceInput block{std::span(tokens).subspan(5), block_rows, &cache};
      block.grid = whole.grid;
      block.extends_cache = false;
      const float* over = model.forward(context, {&block, 1});
      EXPECT_TRUE(std::equal(over, over + 4 * vocabulary, expected.begin() + 5 * vocabulary)) << name;

      // Packed beside a causal sequence and another grid.
      std::vector<SequenceInput> inputs = {{tokens, rows}, whole, {std::span(tokens).first(7), {}}};
      inputs[2].grid = BlockGrid{2};
      const float* packed = model.forward(context, inputs);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), packed + 9 * vocabulary)) << "packed";
    }
  }
}

// The oracle in double knows YaRN, scaled queries and what precedes a grid.
TEST(ModelReference, HoldsForNemotron) {
  ThreadPool threads(2);
  const Golden golden(family_folder("nemotron-f32"));
  Model model = Model::load(golden.folder());
  const auto ids = golden.ids("A.ids");
  const auto rows = all_rows(ids.size());
  for (const auto& [name, grid] :
       {Reading{"causal", std::nullopt},
        Reading{"causal5_then_block4", BlockGrid{4, 5, ops::BeforeGrid::kCausal}},
        Reading{"prompt5_then_blocks2", BlockGrid{2, 5, ops::BeforeGrid::kWhole}}}) {
    SequenceInput input{ids, rows};
    input.grid = grid;
    const auto states = model::ModelReference(model.config(), model.weights()).forward(input);
    const auto exact = golden.numbers(std::string("A.") + name + ".logits_f64");
    EXPECT_LT(rms_difference(states.logits, exact), 1e-9) << name;
  }
}

TEST(BlockCacheBits, PackedSequencesKeepTheirOwnGrid) {
  ThreadPool threads(2);
  const Context context{threads};
  Model model = Model::load(family_folder("a2d-qwen3-f32"));
  const auto vocabulary = model.config().vocabulary;
  const std::vector<std::int32_t> a = {5, 6, 7, 8, 9, 10, 11}, b = {15, 16, 17, 18, 19};
  const auto rows_a = all_rows(a.size()), rows_b = all_rows(b.size());
  std::vector<SequenceInput> inputs = {{a, rows_a}, {a, rows_a}, {b, rows_b}};
  inputs[0].grid = BlockGrid{4, 3};
  inputs[2].grid = BlockGrid{2};  // the second one sees everything
  const float* logits = model.forward(context, inputs);
  const std::vector<float> packed(logits, logits + 19 * vocabulary);
  std::int64_t row = 0;
  for (const auto& input : inputs) {
    const float* alone = model.forward(context, {&input, 1});
    EXPECT_TRUE(std::equal(alone, alone + input.rows() * vocabulary, packed.begin() + row * vocabulary))
        << row;
    row += input.rows();
  }
  EXPECT_FALSE(std::equal(packed.begin(), packed.begin() + vocabulary, packed.begin() + 7 * vocabulary));
}

TEST(FamilyRefusals, ATiedHeadThatDiffersFromTheStoredOne) {
  const ChangedFamily tied("sdar-f32", {{"tie_word_embeddings", true}});  // its head is another matrix
  EXPECT_TRUE(fails_with<InputError>([&] { Model::load(tied.folder()); },
                                     {"lm_head.weight", "expected the numbers of model.embed_tokens.weight",
                                      "tie_word_embeddings", "found others"}));
  EXPECT_NO_THROW(Model::load(family_folder("a2d-qwen3-f32")));  // stored, tied and equal
}

TEST(FamilyRefusals, TheUnderscoredNameOfA2dIsTheSameModel) {
  const ChangedFamily derived("a2d-qwen3-f32", {{"architectures", {"_A2DQwen3LMHeadModel"}}});
  EXPECT_EQ(Model::load(derived.folder()).config().family, Family::kA2dQwen3);
}

TEST(FamilyRefusals, AGridOfAModelWithoutBlocks) {
  Model model = Model::load(data_folder() / "goldens" / golden_cases().front());
  const std::vector<std::int32_t> tokens = {1, 2, 3};
  SequenceInput input{tokens, {}};
  input.grid = BlockGrid{2};
  ThreadPool threads(1);
  EXPECT_TRUE(fails_with<UsageError>([&] { model.forward({threads}, {&input, 1}); }, {"grid"}));
}

}  // namespace
}  // namespace buoy
