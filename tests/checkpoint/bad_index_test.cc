// model.safetensors.index.json and the shards it names must agree in both directions, and an index must
// not lead out of its folder.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/checkpoint/checkpoint.h"
#include "buoy/checkpoint/shard_index.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::fails_with;
using testing::shard_name;
using testing::TempFolder;
using testing::TinyCheckpoint;

class BadIndex : public ::testing::Test {
 protected:
  BadIndex() { tiny_.write_sharded(folder_.path(), 2); }

  auto opening(const Json& index) const {
    folder_.write("model.safetensors.index.json", testing::to_text(index));
    return [this] { Checkpoint::open(folder_.path()); };
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  const TinyCheckpoint tiny_{Family::kLlama};
  const TempFolder folder_;
  Json index_ = tiny_.index(2);
  Json& weight_map_ = index_["weight_map"];
  const std::string index_path_ = path("model.safetensors.index.json");
};

TEST_F(BadIndex, TheUnspoiledOneOpens) {
  EXPECT_NO_THROW(opening(index_)());
}

TEST_F(BadIndex, NamesAMissingShard) {
  std::filesystem::remove(path(shard_name(2, 2)));
  EXPECT_TRUE(
      fails_with<InputError>(opening(index_), {index_path_ + ": weight_map", "expected files of this folder",
                                               "that are not there: " + shard_name(2, 2)}));
}

TEST_F(BadIndex, NamesATensorThatItsShardLacks) {
  weight_map_["ghost"] = shard_name(1, 2);
  EXPECT_TRUE(fails_with<InputError>(
      opening(index_), {path(shard_name(1, 2)), "expected tensor ghost as the index says", "found none"}));
}

TEST_F(BadIndex, LeavesOutATensorOfAShard) {
  weight_map_.erase("model.norm.weight");
  EXPECT_TRUE(
      fails_with<InputError>(opening(index_), {path("model-0000"), ": model.norm.weight",
                                               "expected an entry in the index for this file", "no entry"}));
}

TEST_F(BadIndex, PutsATensorIntoTheWrongShard) {
  const std::string right = weight_map_.at("model.norm.weight");
  const std::string wrong = shard_name(right == shard_name(1, 2) ? 2 : 1, 2);
  weight_map_["model.norm.weight"] = wrong;
  EXPECT_TRUE(fails_with<InputError>(opening(index_), {path(right) + ": model.norm.weight",
                                                       "expected an entry in the index", "found " + wrong}));
}

TEST_F(BadIndex, LeadsOutOfTheFolder) {
  for (const char* file : {"../x.safetensors", "/tmp/x.safetensors", "sub/x.safetensors", "./x.safetensors",
                           "x.safetensors/", "", "x.bin", "model.safetensors.index.json", ".."}) {
    weight_map_["model.norm.weight"] = file;
    EXPECT_TRUE(fails_with<InputError>(opening(index_), {index_path_ + ": weight_map: model.norm.weight",
                                                         "expected a .safetensors file in the same folder",
                                                         std::string("found text \"") + file}));
  }
}

TEST_F(BadIndex, NamesAFileWithANulByte) {
  weight_map_["model.norm.weight"] = std::string("a\0.safetensors", 14);
  EXPECT_TRUE(
      fails_with<InputError>(opening(index_), {"weight_map: model.norm.weight", "in the same folder"}));
}

TEST_F(BadIndex, MapsATensorToSomethingElse) {
  weight_map_["model.norm.weight"] = 1;
  EXPECT_TRUE(fails_with<InputError>(opening(index_), {index_path_ + ": weight_map: model.norm.weight",
                                                       "expected a file name", "found the number 1"}));
}

TEST_F(BadIndex, HasNoMap) {
  const std::pair<Json, const char*> maps[] = {{nullptr, "nothing"},
                                               {Json::array({1}), "a list of 1"},
                                               {Json::object(), "an object of 0 fields"},
                                               {"model.safetensors", "text \"model.safetensors\""}};
  for (const auto& [map, found] : maps) {
    index_["weight_map"] = map;
    EXPECT_TRUE(fails_with<InputError>(
        opening(index_), {index_path_ + ": weight_map", "expected an object from tensor to file name",
                          std::string("found ") + found}));
  }
}

TEST_F(BadIndex, IsNotAnObject) {
  EXPECT_TRUE(fails_with<InputError>(opening(Json::array()),
                                     {index_path_, "expected a JSON object", "found a list"}));
}

TEST_F(BadIndex, IsNotJson) {
  folder_.write("model.safetensors.index.json", "{\"weight_map\": ");
  EXPECT_TRUE(fails_with<InputError>([&] { Checkpoint::open(folder_.path()); },
                                     {index_path_, "expected valid JSON", "found"}));
}

TEST_F(BadIndex, NamesTheShardThatIsDamaged) {
  folder_.write(shard_name(2, 2), "short");
  EXPECT_TRUE(
      fails_with<InputError>(opening(index_), {path(shard_name(2, 2)), "at least 8 bytes", "found 5 bytes"}));
}

TEST(ShardIndex, GivesTheFileOfEveryTensor) {
  const auto map = parse_shard_index(
      parse_json(R"({"metadata": {}, "weight_map": {"a": "x.safetensors", "b": "..y.safetensors"}})",
                 "index"),
      "index");
  EXPECT_EQ(map, (std::map<std::string, std::string>{{"a", "x.safetensors"}, {"b", "..y.safetensors"}}));
}

}  // namespace
}  // namespace buoy
