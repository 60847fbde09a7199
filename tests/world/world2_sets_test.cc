#include "buoy/world/world2_sets.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <span>

#include "buoy/base/sha256.h"
#include "buoy/questions/data/item_json.h"

namespace buoy::world {
namespace {

// The first three questions of every file that buoy_export_world wrote when the family was trained, file by
// file in the order of their names: sha256sum of `head -3 sets/*.jsonl`, without the headings.
TEST(World2Sets, AreThoseThatWereExported) {
  const World world({.version = 2});
  const auto sets = world2_sets(1, 3);
  EXPECT_EQ(sets.size(), 36U);
  std::map<std::string, std::string> files;
  for (const auto& [name, options] : sets) {
    std::string& lines = files[name + ".jsonl"];
    for (const auto& item : make_world2_set(world, options))
      lines += questions::item_json(item).dump() + '\n';
  }
  std::string all;
  for (const auto& [name, lines] : files) all += lines;
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(all))),
            "81d643d0c101ea4d0b36ced81182fdd9a457dfc7b095a8d389386e1706dede6e");
}

TEST(World2Sets, TrainingLooksAtOtherQuestions) {
  const auto sets = world2_sets(7, 1);
  EXPECT_EQ(sets.at("lookup-5").seed, 7U);
  EXPECT_EQ(sets.at("skill-5").seed, 1007U);
}

}  // namespace
}  // namespace buoy::world
