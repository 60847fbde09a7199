#include "buoy/world/world_request.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/world2_sets.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using questions::Item;
using testing::fails_with;

std::vector<std::string> as_lines(const std::vector<Item>& items) {
  std::vector<std::string> lines;
  for (const auto& item : items) lines.push_back(questions::item_json(item).dump());
  return lines;
}

TEST(WorldRequest, IsVersion1UnlessTold) {
  EXPECT_EQ(as_lines(make_questions({.count = 3, .passages = 2})),
            as_lines(make_world_set(World(), {.count = 3, .passages = 2})));
  EXPECT_EQ(
      as_lines(make_questions({.count = 3, .passages = 4, .gold_position = 2, .noise_kind = "shuffled"})),
      as_lines(make_world_set(
          World(), {.count = 3, .passages = 4, .gold_position = 2, .noise = WorldNoise::kShuffled})));
}

// A request in words for every set that is exported.
TEST(WorldRequest, ReachesEverySetOfVersion2) {
  const World world({.version = 2});
  for (const auto& [name, options] : world2_sets(3, 2)) {
    WorldRequest request{.version = 2,
                         .people = name_of(options.people),
                         .count = options.count,
                         .passages = options.passages,
                         .seed = options.seed,
                         .task = name_of(options.task)};
    if (options.style) request.label_style = label_style_names()[*options.style];
    if (options.wording) request.wording = wording_names()[*options.wording];
    EXPECT_EQ(as_lines(make_questions(request)), as_lines(make_world2_set(world, options))) << name;
  }
}

TEST(WorldRequest, NothingIsLeftOutInSilence) {
  const auto refuses = [](const WorldRequest& request, std::initializer_list<std::string> parts) {
    return fails_with<UsageError>([&] { make_questions(request); }, parts);
  };
  EXPECT_TRUE(refuses({.version = 3}, {"`version`", "1 or 2", "3"}));
  EXPECT_TRUE(refuses({.task = "list"}, {"`task`", "version 2", "version 1"}));
  EXPECT_TRUE(refuses({.label_style = "none"}, {"`label_style`", "version 2", "version 1"}));
  EXPECT_TRUE(refuses({.wording = "records"}, {"`wording`", "version 2", "version 1"}));
  EXPECT_TRUE(refuses({.version = 2, .gold_position = 1}, {"`gold_position`", "version 1", "version 2"}));
  EXPECT_TRUE(refuses({.version = 2, .noise_kind = "random"}, {"`noise_kind`", "version 1", "version 2"}));
  EXPECT_TRUE(refuses({.version = 2, .two_hop = true}, {"`two_hop`", "task \"two-hop\""}));
  EXPECT_TRUE(
      refuses({.version = 2, .task = "lookups"}, {"`task`", "one of lookup, similar", "\"lookups\""}));
  EXPECT_TRUE(refuses({.version = 2, .label_style = "x"}, {"`label_style`", "one of passage, br", "\"x\""}));
  EXPECT_TRUE(refuses({.version = 2, .wording = "x"}, {"`wording`", "one of question, records", "\"x\""}));
  EXPECT_TRUE(refuses({.version = 2, .task = "newest"}, {"`passages` of task newest", "2 or more", "0"}));
}

}  // namespace
}  // namespace buoy::world
