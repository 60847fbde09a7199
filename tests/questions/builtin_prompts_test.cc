#include "buoy/questions/prompt/builtin_prompts.h"

#include <gtest/gtest.h>

#include <set>

#include "buoy/questions/prompt/prompt_template.h"

namespace buoy::questions {
namespace {

Item small_item() {
  Item item;
  item.id = "one";
  item.question = "Where is it?";
  item.answers = {"Paris"};
  item.passages = {{.title = "Lyon", .text = "Lyon is south."},
                   {.title = "Paris", .text = "It is in Paris."}};
  return item;
}

std::string render(const std::string& name, const Item& item = small_item()) {
  return PromptTemplate::load(name).render(item).text;
}

TEST(BuiltinPrompts, AreTheNamedOnes) {
  std::set<std::string_view> names;
  for (const BuiltinPrompt& prompt : builtin_prompts()) names.insert(prompt.name);
  EXPECT_EQ(names, (std::set<std::string_view>{"shared-passages", "shared-closed-book", "authors-llada",
                                               "authors-llada-closed-book", "authors-others",
                                               "authors-others-closed-book", "flow", "flow-closed-book"}));
}

TEST(BuiltinPrompts, HaveAQueryAndOneRegionPerPassageThatIsShown) {
  for (const BuiltinPrompt& builtin : builtin_prompts()) {
    SCOPED_TRACE(builtin.name);
    const auto prompt = PromptTemplate::load(std::string(builtin.name));
    const bool closed_book = builtin.name.ends_with("closed-book");
    EXPECT_EQ(prompt.uses_passages(), !closed_book);
    std::set<std::string> regions;
    for (const RegionSpan& region : prompt.render(small_item()).regions) regions.insert(region.name);
    EXPECT_EQ(regions, closed_book ? std::set<std::string>{"query"}
                                   : (std::set<std::string>{"document 1", "document 2", "query"}));
    EXPECT_EQ(render(std::string(builtin.name)).find("Lyon is south.") == std::string::npos, closed_book);
    EXPECT_EQ(render(std::string(builtin.name)).back(), ':') << "the answer follows";
  }
}

TEST(BuiltinPrompts, FlowIsTheLayoutOfTheRollout) {
  const RenderedPrompt prompt = PromptTemplate::load("flow").render(small_item());
  EXPECT_EQ(prompt.text,
            "Query: Where is it?\n\nPassages:\n[1] Lyon is south.\n\n[2] It is in Paris.\n\nAnswer:");
  EXPECT_EQ(prompt.regions,
            (std::vector<RegionSpan>{{"query", 0, 31}, {"document 1", 31, 51}, {"document 2", 51, 72}}));
  EXPECT_EQ(render("flow-closed-book"), "Query: Where is it?\n\nAnswer:");
}

TEST(BuiltinPrompts, TheSharedOnesDifferByThePassagesOnly) {
  const std::string with = render("shared-passages"), without = render("shared-closed-book");
  const std::string tail = "\n\nQuestion: Where is it?\nAnswer:";
  const std::string head = "Answer the question in as few words as possible.";
  EXPECT_EQ(without, head + tail);
  EXPECT_TRUE(with.starts_with(head));
  EXPECT_TRUE(with.ends_with("Passage 2 (Paris):\nIt is in Paris." + tail));
}

TEST(BuiltinPrompts, TheAuthorsOnesHaveTheirStructure) {
  const std::string llada = render("authors-llada"), others = render("authors-others");
  EXPECT_TRUE(llada.ends_with("\n\nQuestion: Where is it?\n\nShort Answer:"));
  EXPECT_TRUE(others.ends_with("\n\nQuestion: Where is it?\nAnswer:"));
  for (const std::string& text : {llada, others}) {
    EXPECT_NE(text.find("Context:\nPassage 1:\nLyon is south.\n\nPassage 2:\nIt is in Paris.\n\n"),
              std::string::npos);
  }
  EXPECT_EQ(llada.find("Tokyo"), std::string::npos) << "zero-shot";
  EXPECT_GT(others.find("Eiffel"), others.find("It is in Paris.")) << "examples behind the context";
  EXPECT_LT(others.find("Tokyo"), others.find("Where is it?"));
}

TEST(BuiltinPrompts, TheAuthorsOnesSayWhenThereIsNoContext) {
  Item item = small_item();
  item.passages.clear();
  for (const char* name : {"authors-llada", "authors-others"}) {
    EXPECT_NE(render(name, item).find("Context:\nPassage 1:\nNo relevant context available.\n\n"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace buoy::questions
