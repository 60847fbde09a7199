// Folders that are not checkpoints, and tensors that are not what was asked for.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/checkpoint/checkpoint.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::fails_with;
using testing::TempFolder;
using testing::TinyCheckpoint;

auto opening(const fs::path& folder) {
  return [folder] { Checkpoint::open(folder); };
}

TEST(BadFolder, Missing) {
  const TempFolder folder;
  const auto path = folder.path() / "missing";
  EXPECT_TRUE(fails_with<InputError>(
      opening(path),
      {path.string(), "expected a folder with config.json and safetensors", "found nothing of that name"}));
}

TEST(BadFolder, IsAFile) {
  const TempFolder folder;
  const auto path = folder.write("file", "x");
  EXPECT_TRUE(fails_with<InputError>(opening(path), {path.string(), "expected a folder", "found a file"}));
}

TEST(BadFolder, NameTheSystemRefuses) {
  const fs::path path = std::string(300, 'n');
  EXPECT_TRUE(fails_with<IoError>(opening(path), {path.string(), "cannot inspect", "too long"}));
}

TEST(BadFolder, WithoutConfig) {
  const TempFolder folder;
  TinyCheckpoint(Family::kLlama).write(folder.path());
  fs::remove(folder.path() / "config.json");
  EXPECT_TRUE(fails_with<InputError>(
      opening(folder.path()),
      {folder.path().string(), "expected a config.json in this folder", "found none"}));
}

TEST(BadFolder, WithABrokenConfig) {
  const TempFolder folder;
  TinyCheckpoint(Family::kLlama).write(folder.path());
  const auto path = folder.write("config.json", "{\"architectures\": [\"LlamaForCausalLM\"");
  EXPECT_TRUE(
      fails_with<InputError>(opening(folder.path()), {path.string(), "expected valid JSON", "found"}));
}

TEST(BadFolder, WithABrokenGenerationConfig) {
  const TempFolder folder;
  TinyCheckpoint(Family::kLlama).write(folder.path());
  const auto path = folder.write("generation_config.json", "");
  EXPECT_TRUE(
      fails_with<InputError>(opening(folder.path()), {path.string(), "expected valid JSON", "found"}));
}

TEST(BadFolder, WithALinkThatLeadsToItself) {
  for (const char* name : {"generation_config.json", "model.safetensors.index.json"}) {
    const TempFolder folder;
    TinyCheckpoint(Family::kLlama).write(folder.path());
    fs::create_symlink(name, folder.path() / name);
    EXPECT_TRUE(fails_with<IoError>(opening(folder.path()),
                                    {(folder.path() / name).string(), "cannot inspect", "symbolic links"}));
  }
}

TEST(BadFolder, WithoutWeights) {
  const TempFolder folder;
  TinyCheckpoint(Family::kLlama).write_configs(folder.path());
  EXPECT_TRUE(fails_with<InputError>(
      opening(folder.path()),
      {folder.path().string(), "expected model.safetensors or model.safetensors.index.json",
       "found neither"}));
}

TEST(BadFolder, WithAFolderWhereAFileShouldBe) {
  for (const char* name : {"config.json", "model.safetensors"}) {
    const TempFolder folder;
    TinyCheckpoint(Family::kLlama).write(folder.path());
    fs::remove(folder.path() / name);
    fs::create_directory(folder.path() / name);
    EXPECT_TRUE(
        fails_with<IoError>(opening(folder.path()), {(folder.path() / name).string(), "Is a directory"}));
  }
}

class BadTensor : public ::testing::Test {
 protected:
  Checkpoint open() const {
    tiny_.write(folder_.path());
    return Checkpoint::open(folder_.path());
  }
  const TempFolder folder_;
  TinyCheckpoint tiny_{Family::kLlama};
};

TEST_F(BadTensor, Missing) {
  Checkpoint checkpoint = open();
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        checkpoint.weight("ghost", {4, 5});
      },
      {folder_.path().string(), "expected tensor ghost of shape [4, 5]", "found no such tensor"}));
}

TEST_F(BadTensor, OfAnotherShape) {
  Checkpoint checkpoint = open();
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{17}, {4, 4}, {}, {16, 1}}) {
    EXPECT_TRUE(fails_with<InputError>([&] { checkpoint.weight("model.norm.weight", shape); },
                                       {folder_.path().string() + "/model.safetensors: model.norm.weight",
                                        "expected shape " + describe_shape(shape), "found shape [16]"}));
  }
}

TEST_F(BadTensor, OfATypeBuoyDoesNotComputeWith) {
  tiny_.tensors = {{"whole", "I64", {1}, std::string(8, '\0')}, {"double", "F64", {1}, std::string(8, '\0')}};
  Checkpoint checkpoint = open();
  for (const auto& tensor : tiny_.tensors) {
    EXPECT_TRUE(fails_with<InputError>([&] { checkpoint.weight(tensor.name, {1}); },
                                       {folder_.path().string() + "/model.safetensors: " + tensor.name,
                                        "expected type F32, F16 or BF16", "found " + tensor.dtype}));
  }
}

TEST_F(BadTensor, ThatNobodyAskedFor) {
  tiny_.tensors = {{"known", "F32", {1}, std::string(4, '\0')}, {"stray", "F32", {1}, std::string(4, '\0')}};
  Checkpoint checkpoint = open();
  checkpoint.weight("known", {1});
  EXPECT_TRUE(fails_with<InputError>(
      [&] { checkpoint.refuse_unused(); },
      {folder_.path().string() + "/model.safetensors: stray",
       "expected only tensors of a LlamaForCausalLM with 2 layers", "found a tensor it does not have"}));
  checkpoint.weight("stray", {1});
  EXPECT_NO_THROW(checkpoint.refuse_unused());
}

}  // namespace
}  // namespace buoy
