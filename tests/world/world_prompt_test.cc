#include <gtest/gtest.h>

#include <filesystem>

#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/world/world_items.h"

namespace buoy::world {
namespace {

using questions::Item;
using questions::Passage;
using questions::PromptTemplate;

const std::filesystem::path kModels =
    std::filesystem::path(BUOY_TEST_DATA).parent_path().parent_path() / "models";

// What training/world_data.py calls prompt_text: the bundled pair knows no other prompt.
TEST(WorldPrompt, IsTheOneTrainingUsed) {
  const Item item = make_world_set(World(), {.count = 1, .passages = 2})[0];
  const auto with = PromptTemplate::load((kModels / "planted.prompt").string());
  EXPECT_EQ(with.render(item).text, "Passage 1: " + item.passages[0].text + "\nPassage 2: " +
                                        item.passages[1].text + "\nQuestion: " + item.question + "\nAnswer:");
  const auto closed = PromptTemplate::load((kModels / "planted-closed-book.prompt").string());
  EXPECT_EQ(closed.render(item).text, "Question: " + item.question + "\nAnswer:");
}

}  // namespace
}  // namespace buoy::world
