#include "buoy/checkpoint/hub_cache.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/checkpoint.h"
#include "support/fails_with.h"
#include "support/hub_cache.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::Environment;
using testing::fails_with;

const std::string kFirst(40, 'a'), kSecond = "b" + std::string(39, '1'), kThird = "b2" + std::string(38, '0');
constexpr char kFolder[] = "models--GSAI-ML--LLaDA-8B-Instruct";
constexpr char kId[] = "GSAI-ML/LLaDA-8B-Instruct";

class HubCache : public ::testing::Test {
 protected:
  HubCache() { testing::TinyCheckpoint(Family::kLlama).write_sharded(make("model"), 2); }

  fs::path make(const std::string& name) const {
    fs::create_directories(scratch_ / name);
    return scratch_ / name;
  }

  fs::path snapshot(const std::string& commit) const {
    return cache_.repository(kFolder) / "snapshots" / commit;
  }

  const testing::TempFolder scratch_;
  const testing::FakeHubCache cache_{scratch_ / "hub"};
  const Environment hub_{"HF_HUB_CACHE", (scratch_ / "hub").string()};
};

TEST_F(HubCache, AnIdIsTheSnapshotThatMainPointsTo) {
  cache_.add(kFolder, kFirst, scratch_ / "model");
  cache_.add(kFolder, kSecond, scratch_ / "model");
  cache_.point(kFolder, "main", kSecond + "\n");
  EXPECT_EQ(find_model(kId), snapshot(kSecond));
  EXPECT_NO_THROW(Checkpoint::open(find_model(kId)));
  EXPECT_EQ(find_model(cache_.repository(kFolder).string()), snapshot(kSecond)) << "the cache's folder of it";
  EXPECT_EQ(find_model(cache_.repository(kFolder).string() + "/"), snapshot(kSecond));
  EXPECT_EQ(find_model(snapshot(kFirst).string()), snapshot(kFirst)) << "a snapshot itself";
}

TEST_F(HubCache, ARevisionIsABranchATagOrTheBeginningOfACommit) {
  for (const auto& commit : {kFirst, kSecond, kThird}) cache_.add(kFolder, commit, scratch_ / "model");
  cache_.point(kFolder, "main", kFirst);
  cache_.point(kFolder, "v1.0", kSecond);
  cache_.point(kFolder, "refs/pr/7", kThird);
  const std::string id = kId;
  EXPECT_EQ(find_model(id + "@main"), snapshot(kFirst));
  EXPECT_EQ(find_model(id + "@v1.0"), snapshot(kSecond));
  EXPECT_EQ(find_model(id + "@refs/pr/7"), snapshot(kThird));
  EXPECT_EQ(find_model(id + "@" + kThird), snapshot(kThird));
  EXPECT_EQ(find_model(id + "@b2"), snapshot(kThird));
  EXPECT_TRUE(fails_with<InputError>([&] { find_model(id + "@b"); }, {"@b", "one commit", kSecond, kThird}));
  EXPECT_TRUE(
      fails_with<InputError>([&] { find_model(id + "@dev"); },
                             {"@dev", "a branch, a tag", kFirst, "branches and tags", "main", "v1.0"}));
}

TEST_F(HubCache, WithoutMainOneSnapshotIsTakenAndSeveralAreRefused) {
  cache_.add(kFolder, kFirst, scratch_ / "model");
  EXPECT_EQ(find_model(kId), snapshot(kFirst));
  cache_.add(kFolder, kSecond, scratch_ / "model");
  EXPECT_TRUE(fails_with<InputError>([&] { find_model(kId); }, {kId, "@REVISION", kFirst, kSecond}));
}

TEST_F(HubCache, AMissListsWhatIsThereTheNearestFirst) {
  EXPECT_TRUE(
      fails_with<InputError>([&] { find_model(kId); }, {kId, "nothing is downloaded", "no cache at"}));
  cache_.add("models--Dream-org--Dream-v0", kFirst, scratch_ / "model");
  cache_.add(kFolder, kFirst, scratch_ / "model");
  cache_.add("models--gpt2", kFirst, scratch_ / "model");
  EXPECT_TRUE(fails_with<InputError>([&] { find_model("GSAI-ML/LLaDA-8B-Instrct"); },
                                     {kId, "Dream-org/Dream-v0", "gpt2"}));
  EXPECT_EQ(find_model("gpt2").filename(), kFirst) << "an id without an organisation";
}

TEST_F(HubCache, AFolderWinsOverAnId) {
  cache_.add(kFolder, kFirst, scratch_ / "model");
  EXPECT_EQ(find_model((scratch_ / "model").string()), scratch_ / "model");
  const fs::path before = fs::current_path();
  make(kId);
  fs::current_path(scratch_.path());
  EXPECT_EQ(find_model(kId), fs::path(kId));
  fs::current_path(before);
}

TEST_F(HubCache, NamesThatLeadOutOfTheCacheAreNone) {
  cache_.add(kFolder, kFirst, scratch_ / "model");
  cache_.point(kFolder, "main", kFirst);
  for (const std::string name :
       {"../model", "/etc/nothing", "a/../../b", "GSAI-ML/LLaDA-8B-Instruct@../../../model", "a/b/c", "a//b",
        "GSAI-ML/LLaDA-8B-Instruct@", "@main", "a--b/c", "a b", "a/\xFF", "GSAI-ML/..", "x@a@b"}) {
    EXPECT_TRUE(fails_with<InputError>([&] { find_model(name); }, {"expected"})) << name;
  }
  EXPECT_THROW(find_model(""), UsageError);
  cache_.point(kFolder, "main", "../../../../model");
  EXPECT_TRUE(fails_with<InputError>([&] { find_model(kId); }, {"refs/main", "the commit of a snapshot"}));
}

TEST_F(HubCache, AHalfDownloadedModelIsRefusedByTheFilesItLacks) {
  cache_.point(kFolder, "main", kFirst);
  fs::create_directories(cache_.repository(kFolder) / "blobs");
  std::ofstream(cache_.repository(kFolder) / "blobs" / "abc.incomplete") << "x";
  EXPECT_TRUE(
      fails_with<InputError>([&] { find_model(kId); }, {kFirst, "not downloaded", "1 unfinished download"}));
  const auto folder = cache_.add(kFolder, kFirst, scratch_ / "model");
  const auto open = [&] { Checkpoint::open(find_model(kId)); };
  const std::string shard = testing::shard_name(2, 2);
  fs::remove(folder / shard);
  EXPECT_TRUE(fails_with<InputError>(open, {"weight_map", "1 of 2 that are not there", shard, "unfinished"}));
  fs::create_symlink("../../blobs/gone", folder / shard);
  EXPECT_TRUE(fails_with<InputError>(open, {"weight_map", "1 of 2 that are not there", shard}))
      << "a dangling link";
  fs::remove(folder / "model.safetensors.index.json");
  EXPECT_TRUE(fails_with<InputError>(open, {"model.safetensors or", "neither", "unfinished"}));
  fs::create_symlink("../../blobs/gone", folder / "model.safetensors.index.json");
  EXPECT_TRUE(fails_with<InputError>(open, {"model.safetensors.index.json", "a link to ../../blobs/gone"}));
  fs::remove(cache_.repository(kFolder) / "blobs" / (kFirst + "-config.json"));
  EXPECT_TRUE(fails_with<InputError>(open, {"config.json"}));
}

TEST_F(HubCache, ALinkToNothingIsNoAbsentFile) {
  fs::create_symlink("gone", scratch_ / "link");
  EXPECT_TRUE(fails_with<InputError>([&] { path_exists(scratch_ / "link"); }, {"link", "a link to gone"}));
  EXPECT_TRUE(fails_with<InputError>([&] { is_folder(scratch_ / "link"); }, {"link", "a link to gone"}));
  EXPECT_FALSE(path_exists(scratch_ / "nothing"));
}

TEST_F(HubCache, ASnapshotIsKnownByItsPlace) {
  const auto found = hub_snapshot_of(snapshot(kFirst) / "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, kId);
  EXPECT_EQ(found->commit, kFirst);
  EXPECT_EQ(model_name(snapshot(kFirst)), kId);
  EXPECT_FALSE(hub_snapshot_of(scratch_ / "model"));
  EXPECT_EQ(model_name(scratch_ / "model"), "model");
  EXPECT_EQ(model_name((scratch_ / "model").string() + "/"), "model");
}

TEST_F(HubCache, TheCacheIsWhereHuggingFaceHubKeepsIt) {
  const Environment hub("HF_HUB_CACHE", std::nullopt), old("HUGGINGFACE_HUB_CACHE", std::nullopt);
  const Environment home("HOME", "/home/someone");
  {
    const Environment hf("HF_HOME", std::nullopt), xdg("XDG_CACHE_HOME", std::nullopt);
    EXPECT_EQ(hub_cache_folder(), "/home/someone/.cache/huggingface/hub");
  }
  const Environment xdg("XDG_CACHE_HOME", "/cache");
  {
    const Environment hf("HF_HOME", std::nullopt);
    EXPECT_EQ(hub_cache_folder(), "/cache/huggingface/hub");
  }
  const Environment hf("HF_HOME", "~/hf");
  EXPECT_EQ(hub_cache_folder(), "/home/someone/hf/hub");
  const Environment wins("HF_HUB_CACHE", "/models");
  EXPECT_EQ(hub_cache_folder(), "/models");
}

}  // namespace
}  // namespace buoy
