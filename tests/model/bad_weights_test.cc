// Weights that do not fit the config of their family are refused when the model is loaded; weights that
// are not numbers are reported by name when it runs.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/model/model.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using model::Model;
using testing::fails_with;
using testing::TempFolder;
using testing::TinyCheckpoint;

auto loading(const TinyCheckpoint& tiny, const TempFolder& folder) {
  tiny.write(folder.path());
  return [&folder] { Model::load(folder.path()); };
}

std::vector<float> logits_of(const std::filesystem::path& folder) {
  ThreadPool threads(2);
  Model model = Model::load(folder);
  const std::vector<std::int32_t> tokens = {3, 1, 4, 1, 5}, rows = {0, 4};
  const float* logits = model.forward({threads}, std::vector<model::SequenceInput>{{tokens, rows, nullptr}});
  return {logits, logits + 2 * model.config().vocabulary};
}

class BadWeights : public ::testing::TestWithParam<Family> {
 protected:
  const TempFolder folder_;
  TinyCheckpoint tiny_{GetParam()};
};

TEST_P(BadWeights, TheUnspoiledOnesLoadAndRun) {
  tiny_.write(folder_.path());
  EXPECT_EQ(logits_of(folder_.path()).size(), 64u);
}

TEST_P(BadWeights, EveryMissingTensorIsNamed) {
  const std::vector<testing::TinyTensor> all = tiny_.tensors;
  for (const auto& tensor : all) {
    tiny_.tensors = all;
    tiny_.remove(tensor.name);
    EXPECT_TRUE(fails_with<InputError>(
        loading(tiny_, folder_),
        {folder_.path().string(),
         "expected tensor " + tensor.name + " of shape " + describe_shape(tensor.shape),
         "found no such tensor"}));
  }
}

TEST_P(BadWeights, EveryTensorOfAWrongShapeIsNamed) {
  const std::vector<testing::TinyTensor> all = tiny_.tensors;
  for (size_t i = 0; i < all.size(); ++i) {
    tiny_.tensors = all;
    auto& tensor = tiny_.tensors[i];
    tensor.shape[0] += 1;
    const size_t row = all[i].shape.size() == 1 ? 4 : 4 * static_cast<size_t>(all[i].shape[1]);
    tensor.bytes.append(row, '\0');
    EXPECT_TRUE(fails_with<InputError>(
        loading(tiny_, folder_),
        {(folder_.path() / "model.safetensors").string() + ": " + tensor.name,
         "expected shape " + describe_shape(all[i].shape), "found shape " + describe_shape(tensor.shape)}));
  }
}

TEST_P(BadWeights, EveryTensorOfAnotherTypeIsNamed) {
  const std::vector<testing::TinyTensor> all = tiny_.tensors;
  for (size_t i = 0; i < all.size(); ++i) {
    tiny_.tensors = all;
    tiny_.tensors[i].dtype = "I32";
    EXPECT_TRUE(fails_with<InputError>(loading(tiny_, folder_),
                                       {(folder_.path() / "model.safetensors").string() + ": " + all[i].name,
                                        "expected type F32, F16 or BF16", "found I32"}));
  }
}

TEST_P(BadWeights, AnExtraTensorIsNamed) {
  for (const char* name :
       {"stray", "model.layers.2.mlp.up_proj.weight", "model.transformer.blocks.2.ff_out.weight"}) {
    TinyCheckpoint tiny(GetParam());
    tiny.tensors.push_back({name, "F32", {1}, std::string(4, '\0')});
    EXPECT_TRUE(fails_with<InputError>(
        loading(tiny, folder_),
        {(folder_.path() / "model.safetensors").string() + ": " + name, "expected only tensors of a ",
         "with 2 layers", "found a tensor it does not have"}));
  }
}

TEST_P(BadWeights, AConfigWithFewerLayersThanTheWeightsIsRefused) {
  tiny_.config[GetParam() == Family::kLlada ? "n_layers" : "num_hidden_layers"] = 1;
  EXPECT_TRUE(
      fails_with<InputError>(loading(tiny_, folder_), {"model.safetensors: ", "expected only tensors of a ",
                                                       "with 1 layers", "found a tensor it does not have"}));
}

TEST_P(BadWeights, AConfigWithMoreLayersThanTheWeightsIsRefused) {
  tiny_.config[GetParam() == Family::kLlada ? "n_layers" : "num_hidden_layers"] = 2147483647;
  EXPECT_TRUE(fails_with<InputError>(
      loading(tiny_, folder_), {folder_.path().string(), "expected tensor ", "2.", "found no such tensor"}));
}

TEST_P(BadWeights, ANanOrAnInfinityIsReportedWithTheNameOfItsTensor) {
  const std::vector<testing::TinyTensor> all = tiny_.tensors;
  for (const auto& tensor : all) {
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      tiny_.tensors = all;
      // All of it, so that every token and every activation meets it.
      std::string& bytes = tiny_.tensor(tensor.name).bytes;
      for (size_t at = 0; at < bytes.size(); at += 4) std::memcpy(bytes.data() + at, &value, 4);
      tiny_.write(folder_.path());
      EXPECT_TRUE(
          fails_with<InputError>([&] { logits_of(folder_.path()); },
                                 {folder_.path().string() + ": ", "expected finite numbers",
                                  "found a NaN or an infinity; tensor " + tensor.name + " holds one"}))
          << value;
    }
  }
}

TEST_P(BadWeights, DataAtAnyAlignmentGivesTheSameLogits) {
  tiny_.write(folder_.path());
  const auto expected = logits_of(folder_.path());
  for (size_t remainder = 1; remainder < 8; ++remainder) {
    const TempFolder folder;
    tiny_.write(folder.path(), remainder);
    EXPECT_EQ(logits_of(folder.path()), expected) << remainder;
  }
}

TEST_P(BadWeights, ShardsGiveTheSameLogits) {
  tiny_.write(folder_.path());
  const TempFolder sharded;
  tiny_.write_sharded(sharded.path(), 3);
  EXPECT_EQ(logits_of(sharded.path()), logits_of(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(Families, BadWeights,
                         ::testing::Values(Family::kLlada, Family::kDream, Family::kLlama, Family::kQwen2,
                                           Family::kQwen3),
                         [](const auto& test) { return std::string(name_of(test.param)); });

class TiedHead : public ::testing::Test {
 protected:
  TiedHead() {
    tiny_.tensor("lm_head.weight").bytes = tiny_.tensor("model.embed_tokens.weight").bytes;
    const TempFolder untied;
    tiny_.write(untied.path());
    expected_ = logits_of(untied.path());
    tiny_.config["tie_word_embeddings"] = true;
  }
  const TempFolder folder_;
  TinyCheckpoint tiny_{Family::kLlama};
  std::vector<float> expected_;
};

TEST_F(TiedHead, UsesTheEmbedding) {
  tiny_.remove("lm_head.weight");
  tiny_.write(folder_.path());
  EXPECT_EQ(logits_of(folder_.path()), expected_);
}

TEST_F(TiedHead, IgnoresTheContentOfAStoredHeadButNotItsShape) {
  auto& head = tiny_.tensor("lm_head.weight");
  head.bytes.assign(head.bytes.size(), '\0');
  tiny_.write(folder_.path());
  EXPECT_EQ(logits_of(folder_.path()), expected_);
  head.shape = {16, 32};
  EXPECT_TRUE(fails_with<InputError>(loading(tiny_, folder_),
                                     {"lm_head.weight", "expected shape [32, 16]", "found shape [16, 32]"}));
}

}  // namespace
}  // namespace buoy
