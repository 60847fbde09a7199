// Opening a folder: one file or shards, tied or not, aligned or not, the same numbers come out.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>

#include "buoy/base/error.h"
#include "buoy/checkpoint/checkpoint.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::fails_with;
using testing::TempFolder;
using testing::TinyCheckpoint;
using testing::TinyTensor;

std::vector<float> numbers(Checkpoint& checkpoint, const TinyTensor& tensor) {
  const Weight weight = checkpoint.weight(tensor.name, tensor.shape);
  std::vector<float> out(static_cast<size_t>(weight.size()));
  to_float(weight, 0, weight.size(), out.data());
  return out;
}

// What the tiny checkpoint put into the file, decoded here.
std::vector<float> stored_numbers(const TinyTensor& tensor) {
  const size_t size = tensor.dtype == "BF16" ? 2 : 4;
  std::vector<float> out;
  for (size_t at = 0; at < tensor.bytes.size(); at += size) {
    std::uint32_t bits = 0;  // little-endian: a bf16 is the upper half of a float
    std::memcpy(reinterpret_cast<char*>(&bits) + 4 - size, tensor.bytes.data() + at, size);
    out.push_back(std::bit_cast<float>(bits));
  }
  return out;
}

void expect_all_numbers(const std::filesystem::path& folder, const TinyCheckpoint& tiny) {
  Checkpoint checkpoint = Checkpoint::open(folder);
  for (const auto& tensor : tiny.tensors) {
    ASSERT_EQ(numbers(checkpoint, tensor), stored_numbers(tensor)) << tensor.name;
  }
  EXPECT_NO_THROW(checkpoint.refuse_unused());
}

struct Opening {
  Family family;
  const char* dtype;
};

class Open : public ::testing::TestWithParam<Opening> {
 protected:
  const TinyCheckpoint tiny_{GetParam().family, GetParam().dtype};
  const TempFolder folder_;
};

TEST_P(Open, ASingleFile) {
  tiny_.write(folder_.path());
  expect_all_numbers(folder_.path(), tiny_);
}

TEST_P(Open, Shards) {
  for (const size_t shards : {1, 2, 5}) {
    const TempFolder folder;
    tiny_.write_sharded(folder.path(), shards);
    expect_all_numbers(folder.path(), tiny_);
    EXPECT_EQ(Checkpoint::open(folder.path()).files().size(), shards);
  }
}

TEST_P(Open, DataAtEveryAlignment) {
  for (size_t remainder = 0; remainder < 8; ++remainder) {
    const TempFolder folder;
    tiny_.write(folder.path(), remainder);
    expect_all_numbers(folder.path(), tiny_);
  }
}

TEST_P(Open, GivesAlignedWeightsWhateverTheFile) {
  for (size_t remainder = 0; remainder < 8; ++remainder) {
    const TempFolder folder;
    tiny_.write(folder.path(), remainder);
    Checkpoint checkpoint = Checkpoint::open(folder.path());
    for (const auto& tensor : tiny_.tensors) {
      const Weight weight = checkpoint.weight(tensor.name, tensor.shape);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weight.data) % size_of(weight.dtype), 0u) << tensor.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Open,
                         ::testing::Values(Opening{Family::kLlada, "F32"}, Opening{Family::kLlada, "BF16"},
                                           Opening{Family::kDream, "BF16"}, Opening{Family::kLlama, "F32"},
                                           Opening{Family::kQwen2, "F32"}, Opening{Family::kQwen3, "BF16"}),
                         [](const auto& test) {
                           return std::string(name_of(test.param.family)) + "_" + test.param.dtype;
                         });

TEST(OpenCheckpoint, KnowsItsFolderConfigAndTensors) {
  const TempFolder folder;
  TinyCheckpoint tiny(Family::kLlama);
  tiny.generation_config = parse_json(R"({"eos_token_id": [28, 29]})", "test");
  tiny.write(folder.path());
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(checkpoint.folder(), folder.path());
  EXPECT_EQ(checkpoint.config().family, Family::kLlama);
  EXPECT_EQ(checkpoint.config().eos_tokens, (std::vector<std::int32_t>{28, 29}));
  EXPECT_TRUE(checkpoint.has("lm_head.weight"));
  EXPECT_FALSE(checkpoint.has("lm_head.bias"));
  EXPECT_EQ(checkpoint.tensor_names().size(), tiny.tensors.size());
  EXPECT_EQ(checkpoint.files(), std::vector<std::filesystem::path>{folder.path() / "model.safetensors"});
}

TEST(OpenCheckpoint, CountsBytesParametersAndTypes) {
  const TempFolder folder;
  TinyCheckpoint tiny(Family::kLlama, "BF16");
  tiny.tensors = {{"half", "BF16", {3}, std::string(6, 'x')}, {"full", "F32", {2, 2}, std::string(16, 'x')}};
  tiny.write(folder.path());
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(checkpoint.weight_bytes(), 22u);
  EXPECT_EQ(checkpoint.parameters(), 7u);
  EXPECT_EQ(checkpoint.stored_types(), "BF16, F32");
}

TEST(OpenCheckpoint, ReadsHalfPrecision) {
  const TempFolder folder;
  TinyCheckpoint tiny(Family::kLlama);
  tiny.tensors = {{"w", "F16", {2}, std::string("\x00\x3C\x00\xC2", 4)}};  // 1 and -3
  tiny.write(folder.path(), 3);
  Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(numbers(checkpoint, tiny.tensors[0]), (std::vector<float>{1.0f, -3.0f}));
}

TEST(OpenCheckpoint, WeightsStayValidWhenTheCheckpointMoves) {
  const TempFolder folder;
  const TinyCheckpoint tiny(Family::kLlama, "BF16");
  tiny.write(folder.path(), 1);
  Checkpoint first = Checkpoint::open(folder.path());
  const TinyTensor& tensor = tiny.tensors[0];
  const Weight weight = first.weight(tensor.name, tensor.shape);
  const Checkpoint moved = std::move(first);
  std::vector<float> out(static_cast<size_t>(weight.size()));
  to_float(weight, 0, weight.size(), out.data());
  EXPECT_EQ(out, stored_numbers(tensor));
}

TEST(OpenCheckpoint, PrefersTheIndexWhenThereIsAlsoASingleFile) {
  const TempFolder folder;
  const TinyCheckpoint tiny(Family::kLlama);
  tiny.write_sharded(folder.path(), 2);
  folder.write("model.safetensors", "left over from somewhere else");
  expect_all_numbers(folder.path(), tiny);
}

TEST(OpenCheckpoint, ToleratesDerivedTablesNobodyAsksFor) {
  const TempFolder folder;
  TinyCheckpoint tiny(Family::kLlama);
  tiny.tensors = {{"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2}, std::string(8, '\0')}};
  tiny.write(folder.path());
  EXPECT_NO_THROW(Checkpoint::open(folder.path()).refuse_unused());
}

}  // namespace
}  // namespace buoy
