// docs/models.md has a row for every family, with the memory that is computed for its smallest checkpoint.
#include "buoy/model/family_table.h"

#include <gtest/gtest.h>

#include <set>

#include "buoy/base/file/files.h"
#include "buoy/checkpoint/architectures.h"
#include "buoy/model/memory.h"
#include "support/golden.h"

namespace buoy::model {
namespace {

TEST(FamilyTable, IsTheOneOfTheDocumentation) {
  const auto page = read_file(testing::data_folder() / "../../docs/models.md");
  EXPECT_NE(page.find(describe_families()), std::string::npos)
      << "build/dev/bin/describe_families prints the table of docs/models.md";
}

TEST(FamilyTable, HasEveryArchitectureOnce) {
  std::set<Family> families;
  std::size_t names = 0;
  for (const auto& facts : family_facts()) {
    EXPECT_TRUE(families.insert(facts.family).second) << facts.models;
    names += architectures_of(facts.family).size();
    EXPECT_FALSE(architectures_of(facts.family).empty()) << facts.models;
  }
  EXPECT_EQ(names, 18u) << "config.cc knows as many";
}

// Goldens that it names are there.
TEST(FamilyTable, NamesGoldensThatExist) {
  for (const auto& facts : family_facts()) {
    std::string_view rest = facts.compared;
    for (std::size_t at; (at = rest.find('`')) != std::string_view::npos;) {
      rest.remove_prefix(at + 1);
      std::string name(rest.substr(0, rest.find('`')));
      rest.remove_prefix(name.size() + 1);
      if (name.find('/') == std::string::npos) name = "families/" + name;
      const std::filesystem::path path = testing::data_folder() / name;
      const std::string prefix = path.filename().string().substr(0, path.filename().string().find('*'));
      bool any = false;
      for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
        any |= entry.path().filename().string().starts_with(prefix);
      EXPECT_TRUE(any) << name;
    }
  }
}

// Sizes as published.
TEST(FamilyTable, KnowsTheSmallestCheckpoints) {
  const auto parameters = [](Family family) { return parameters_of(smallest_of(family)); };
  EXPECT_EQ(parameters(Family::kQwen2), 494'032'768u);
  EXPECT_EQ(parameters(Family::kQwen3), 596'049'920u);
  EXPECT_EQ(parameters(Family::kSdar), 2'031'739'904u);
  EXPECT_EQ(parameters(Family::kFastDllm), 1'543'714'304u);
  EXPECT_EQ(parameters(Family::kNemotron), 3'831'659'520u);
  EXPECT_EQ(parameters(Family::kLladaMoe), 7'356'880'896u);
  EXPECT_EQ(parameters(Family::kQwen3Moe), 30'532'122'624u);
  EXPECT_EQ(parameters(Family::kLlada2), 16'255'643'392u);
  EXPECT_EQ(parameters(Family::kDream), 7'615'616'512u);
}

}  // namespace
}  // namespace buoy::model
