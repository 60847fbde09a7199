#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <sstream>

#include "buoy/base/error.h"
#include "buoy/base/file/gzip.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/world/world2_sets.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using questions::Item;
using questions::PromptTemplate;
using questions::RegionSpan;

const std::filesystem::path kData = BUOY_TEST_DATA;

PromptTemplate load(const std::string& name) {
  return PromptTemplate::load((kData.parent_path().parent_path() / "models" / name).string());
}

// training/write_prompt_goldens.py wrote the texts with the code that makes documents for training.
TEST(FamilyPrompt, IsTheOneTrainingUsed) {
  const World world({.version = 2});
  const auto sets = world2_sets(1, 20);
  const auto with_passages = load("natural.prompt"), closed = load("natural-closed-book.prompt");
  std::istringstream lines(read_plain_or_gzip(kData / "world" / "family_prompts.jsonl.gz"));
  std::set<std::string> forms, closed_forms;
  for (std::string line; std::getline(lines, line);) {
    const auto golden = nlohmann::json::parse(line);
    const auto id = golden["id"].get<std::string>(), text = golden["text"].get<std::string>();
    for (const Item& item : make_world2_set(world, sets.at(golden["set"].get<std::string>()))) {
      if (item.id != id) continue;
      const bool reads = !item.passages.empty();
      EXPECT_EQ((reads ? with_passages : closed).render(item).text, text) << line;
      EXPECT_EQ(item.prompt, text) << line;
      (reads ? forms : closed_forms).insert(item.labels.at("style") + ' ' + item.labels.at("wording"));
    }
  }
  EXPECT_EQ(forms.size(), 10U) << "every form is among the goldens";
  EXPECT_FALSE(closed_forms.empty());
}

// Every question of every set, also those with more passages than the goldens have.
TEST(FamilyPrompt, IsTheReadyPromptOfEveryItem) {
  const World world({.version = 2});
  const auto with_passages = load("natural.prompt"), closed = load("natural-closed-book.prompt");
  for (const auto& [name, options] : world2_sets(5, 20)) {
    for (const Item& item : make_world2_set(world, options)) {
      EXPECT_EQ((item.passages.empty() ? closed : with_passages).render(item).text, item.prompt) << item.id;
    }
  }
}

// A label belongs to the passage it stands before, as with the pair, and is text of the template.
TEST(FamilyPrompt, LabelsBelongToPassages) {
  const World world({.version = 2});
  const auto items = make_world2_set(world, {.count = 1, .passages = 2, .style = 2, .wording = 1});
  const auto prompt = load("natural.prompt").render(items[0]);
  ASSERT_EQ(prompt.regions.size(), 3U);
  const auto text = [&](const RegionSpan& span) {
    return prompt.text.substr(span.begin, span.end - span.begin);
  };
  EXPECT_EQ(text(prompt.regions[0]), "Document A - " + items[0].passages[0].text + "\n");
  EXPECT_EQ(text(prompt.regions[2]), items[0].question);
  EXPECT_EQ(text(prompt.filled[0]), items[0].passages[0].text);
}

TEST(FamilyPrompt, NeedsTheLabelsOfTheWorld) {
  Item item = make_world2_set(World({.version = 2}), {.count = 1, .passages = 2})[0];
  item.labels.erase("style");
  EXPECT_TRUE(testing::fails_with<InputError>(
      [&] { (void)load("natural.prompt").render(item); },
      {item.id, "label \"style\"", "one of bracket, document", "natural.prompt", "no such label"}));
}

}  // namespace
}  // namespace buoy::world
