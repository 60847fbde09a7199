#include "buoy/questions/prompt/prompt_template.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::questions {
namespace {

using testing::fails_with;
using testing::TempFolder;

Item small_item() {
  Item item;
  item.id = "one";
  item.question = "Where is it?";
  item.answers = {"Paris"};
  item.passages = {{.title = "Lyon", .text = "Lyon is not Paris."},
                   {.text = "It is in Paris.", .gold = true}};
  return item;
}

RenderedPrompt render(std::string_view text, const Item& item = small_item()) {
  return PromptTemplate::parse(text, "t").render(item);
}

// "name=text" of every region.
std::vector<std::string> region_texts(const RenderedPrompt& prompt) {
  std::vector<std::string> texts;
  for (const RegionSpan& region : prompt.regions) {
    texts.push_back(region.name + "=" + prompt.text.substr(region.begin, region.end - region.begin));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PromptTemplate, TheQuestionIsARegion) {
  const RenderedPrompt prompt = render("Question: {{question}}\nAnswer:\n");
  EXPECT_EQ(prompt.text, "Question: Where is it?\nAnswer:") << "the line end of the file is dropped";
  EXPECT_EQ(prompt.regions, (std::vector<RegionSpan>{{"query", 10, 22}}));
  EXPECT_TRUE(prompt.evidence.empty());
}

TEST(PromptTemplate, EveryPassageIsARegion) {
  const RenderedPrompt prompt = render("{{#passages}}[{{number}}] {{text}}\n{{/passages}}Q: {{question}}");
  EXPECT_EQ(prompt.text, "[1] Lyon is not Paris.\n[2] It is in Paris.\nQ: Where is it?");
  EXPECT_EQ(region_texts(prompt), (Texts{"document 1=[1] Lyon is not Paris.\n",
                                         "document 2=[2] It is in Paris.\n", "query=Where is it?"}));
}

TEST(PromptTemplate, EvidenceIsInTheGoldPassageOnly) {
  const RenderedPrompt prompt = render("{{question}} {{#passages}}{{text}} {{/passages}}");
  const std::size_t at = prompt.text.rfind("Paris");
  EXPECT_EQ(prompt.evidence, (std::vector<RegionSpan>{{"document 2", at, at + 5}}));
}

TEST(PromptTemplate, EvidenceIsInAllPassagesWhenNoneIsGold) {
  Item item = small_item();
  item.passages[1].gold = false;
  const RenderedPrompt prompt = render("{{question}} {{#passages}}{{text}} {{/passages}}", item);
  ASSERT_EQ(prompt.evidence.size(), 2U);
  EXPECT_EQ(prompt.evidence[0].name, "document 1");
  for (const RegionSpan& place : prompt.evidence) EXPECT_EQ(prompt.text.substr(place.begin, 5), "Paris");
}

TEST(PromptTemplate, SectionTagsAloneOnALineLeaveNoLine) {
  const RenderedPrompt prompt = render(
      "{{! a comment }}\n"
      "Context:\n"
      "  {{#passages}}  \n"
      "{{number}}{{#title}} ({{title}}){{/title}}: {{text}}\n"
      "{{/passages}}\n"
      "{{question}}\n");
  EXPECT_EQ(prompt.text, "Context:\n1 (Lyon): Lyon is not Paris.\n2: It is in Paris.\nWhere is it?");
}

TEST(PromptTemplate, CommentsAndTagsBesideTextTouchNothingElse) {
  EXPECT_EQ(render("a {{! b }} c {{question}}\n\n").text, "a  c Where is it?\n");
  EXPECT_EQ(render("{{ question }} {x} } {").text, "Where is it? {x} } {") << "single braces are text";
}

TEST(PromptTemplate, NamedRegions) {
  const RenderedPrompt prompt =
      render("{{#region rules}}Be brief.{{/region}} {{#region query}}Q: {{question}}{{/region}}");
  EXPECT_EQ(region_texts(prompt), (Texts{"rules=Be brief.", "query=Q: Where is it?"}));
}

TEST(PromptTemplate, TheQuestionTwiceUnderTwoNames) {
  const RenderedPrompt prompt = render(
      "{{#region first query}}{{question}}{{/region}} {{#passages}}{{text}}{{/passages}} {{question}}");
  EXPECT_EQ(prompt.regions.front().name, "first query");
  EXPECT_EQ(prompt.regions.back().name, "query");
}

TEST(PromptTemplate, ItemsWithoutPassages) {
  Item item = small_item();
  item.passages.clear();
  constexpr std::string_view kSilent = "{{#passages}}{{text}}{{/passages}}{{question}}";
  EXPECT_TRUE(fails_with<InputError>([&] { render(kSilent, item); },
                                     {"item one: passages", "at least one, for the prompt \"t\"", "none"}));
  const RenderedPrompt prompt =
      render("{{#passages}}{{text}}{{/passages}}{{^passages}}No context. {{/passages}}{{question}}", item);
  EXPECT_EQ(prompt.text, "No context. Where is it?");
  EXPECT_EQ(region_texts(prompt), Texts{"query=Where is it?"}) << "the replacement is the template's";
  EXPECT_EQ(render("{{^passages}}No context. {{/passages}}{{question}}").text, "Where is it?");
}

TEST(PromptTemplate, KnowsWhetherItUsesPassages) {
  EXPECT_TRUE(PromptTemplate::parse("{{question}}{{#passages}}{{text}}{{/passages}}", "t").uses_passages());
  EXPECT_FALSE(PromptTemplate::parse("{{question}}{{^passages}}none{{/passages}}", "t").uses_passages());
}

TEST(PromptTemplate, MistakesAreNamedByLineAndColumn) {
  const auto refused = [](std::string_view text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { PromptTemplate::parse(text, "t"); }, parts);
  };
  EXPECT_TRUE(refused("a\n\u00fc {{answer}}", {"t:2:3", "{{question}}, {{number}}", "{{answer}}"}));
  EXPECT_TRUE(refused("{{question}} {{", {"t:1:14", "\"}}\" to end the tag", "none"}));
  EXPECT_TRUE(refused("{{question}}\n{{#passages}}x", {"t:2:1", "{{/passages}}", "the end of the template"}));
  EXPECT_TRUE(refused("{{#region a}}{{question}}", {"t:1:1", "{{/region}}", "the end"}));
  EXPECT_TRUE(refused("{{question}}{{/passages}}", {"t:1:13", "no section is open", "{{/passages}}"}));
  EXPECT_TRUE(refused("{{#passages}}{{/region}}", {"t:1:14", "{{/passages}} first", "{{/region}}"}));
  EXPECT_TRUE(refused("{{question}}{{#loop}}{{/loop}}", {"t:1:13", "{{#passages}}", "{{#loop}}"}));
  EXPECT_TRUE(refused("{{question}}{{^title}}{{/title}}", {"t:1:13", "{{^passages}}", "{{^title}}"}));
  EXPECT_TRUE(refused("{{question}}{{}}", {"t:1:13", "{{question}}", "{{}}"}));
  EXPECT_TRUE(refused("{{question}} {{text}}", {"t:1:14", "{{text}} inside {{#passages}} only"}));
  EXPECT_TRUE(refused("{{#title}}{{/title}}", {"t:1:1", "{{#title}} inside {{#passages}} only"}));
  EXPECT_TRUE(refused("{{#passages}}{{question}}{{/passages}}", {"t:1:14", "{{question}} outside"}));
  EXPECT_TRUE(refused("{{#passages}}{{#passages}}", {"t:1:14", "{{#passages}} outside other sections"}));
  EXPECT_TRUE(refused("{{#region a}}{{#region b}}", {"t:1:14", "{{#region b}} outside other sections"}));
  EXPECT_TRUE(refused("no question", {"t:1:1", "a template with {{question}}", "none"}));
  EXPECT_TRUE(refused("{{question}}\xFF", {"t", "well-formed UTF-8", "offset 12"}));
}

TEST(PromptTemplate, SectionsDoNotNestHoweverManyThereAre) {
  const auto refused = [](std::string_view text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { PromptTemplate::parse(text, "t"); }, parts);
  };
  std::string empty = "{{question}}", titled = "{{question}}{{#passages}}";
  for (int i = 0; i < 20'000; ++i) empty += "{{^passages}}", titled += "{{#title}}";
  EXPECT_TRUE(refused(empty, {"t:1:26", "{{^passages}} outside other sections"}));
  EXPECT_TRUE(refused(titled, {"t:1:36", "{{#title}} outside {{#title}}"}));
  EXPECT_TRUE(refused("{{^passages}}{{#passages}}", {"t:1:14", "{{#passages}} outside other sections"}));
  EXPECT_TRUE(refused("{{#passages}}{{^passages}}", {"t:1:14", "{{^passages}} outside other sections"}));
  EXPECT_TRUE(refused("{{#region a}}{{^passages}}", {"t:1:14", "{{^passages}} outside other sections"}));
  const auto fine = PromptTemplate::parse(
      "{{^passages}}{{#region a}}{{question}}{{/region}}{{/passages}}"
      "{{#passages}}{{#title}}{{title}}{{/title}}{{#title}}{{title}}{{/title}}{{/passages}}",
      "t");
  EXPECT_EQ(fine.render(small_item()).text, "LyonLyon");
}

// One template for items that were written in several forms.
TEST(PromptTemplate, LabelsChooseSections) {
  constexpr std::string_view kForms =
      "{{#label form a}}\nRead.\n{{/label}}\n"
      "{{#passages}}\n{{#label form a}}\n({{letter}}) {{text}}\n{{/label}}\n"
      "{{#label form b}}\n{{text}}\n{{/label}}\n{{/passages}}\n"
      "{{#label form a}}Q{{/label}}{{#label form b}}Ask{{/label}}: {{question}}";
  Item item = small_item();
  item.labels["form"] = "a";
  EXPECT_EQ(render(kForms, item).text, "Read.\n(A) Lyon is not Paris.\n(B) It is in Paris.\nQ: Where is it?");
  item.labels["form"] = "b";
  const RenderedPrompt prompt = render(kForms, item);
  EXPECT_EQ(prompt.text, "Lyon is not Paris.\nIt is in Paris.\nAsk: Where is it?");
  EXPECT_EQ(region_texts(prompt),
            (Texts{"document 1=Lyon is not Paris.\n", "document 2=It is in Paris.\n", "query=Where is it?"}));
  item.labels["form"] = "c";
  EXPECT_TRUE(
      fails_with<InputError>([&] { render(kForms, item); }, {"item one: label \"form\"", "a, b", "\"c\""}));
  item.labels.clear();
  EXPECT_TRUE(fails_with<InputError>([&] { render(kForms, item); }, {"label \"form\"", "no such label"}));
}

TEST(PromptTemplate, MistakesInLabelsAreNamed) {
  const auto refuses = [](std::string_view text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { render(text); }, parts);
  };
  EXPECT_TRUE(
      refuses("{{question}}{{#label form}}x{{/label}}", {"t:1:13", "{{#label NAME VALUE}}", "label form"}));
  EXPECT_TRUE(refuses("{{question}}{{#label a b c}}x{{/label}}", {"t:1:13", "{{#label NAME VALUE}}"}));
  EXPECT_TRUE(refuses("{{#label a b}}{{question}}{{/label}}", {"t:1:15", "outside {{#label}}"}));
  EXPECT_TRUE(refuses("{{#label a b}}{{#label c d}}{{/label}}{{/label}}{{question}}", {"t:1:15", "outside"}));
  EXPECT_TRUE(refuses("{{letter}}{{question}}", {"t:1:1", "inside {{#passages}} only"}));
  Item item = small_item();
  item.passages.resize(27, {.text = "more"});
  EXPECT_TRUE(fails_with<InputError>(
      [&] { render("{{#passages}}{{letter}}{{text}}{{/passages}}{{question}}", item); },
      {"item one: passages", "at most 26", "27"}));
}

TEST(PromptTemplate, RegionsOccurOnce) {
  const auto refused = [](std::string_view text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { PromptTemplate::parse(text, "t"); }, parts);
  };
  EXPECT_TRUE(
      refused("{{question}} {{question}}", {"t:1:14", "each region once", "\"query\" a second time"}));
  EXPECT_TRUE(refused("{{#region a}}{{/region}}{{#region a}}{{/region}}", {"t:1:25", "region \"a\""}));
  EXPECT_TRUE(
      refused("{{question}}{{#passages}}{{/passages}}{{#passages}}{{/passages}}", {"t:1:39", "once"}));
  for (const std::string name : {"template", "bos", "answer", "document 1", "Rules", ""}) {
    EXPECT_TRUE(refused("{{#region " + name + " }}{{/region}}", {"t:1:1"})) << name;
  }
}

TEST(PromptTemplate, LoadsFilesAndBuiltInOnes) {
  const TempFolder temp;
  const auto file = temp.write("mine.txt", "\xEF\xBB\xBF{{question}}\r\nAnswer:\r\n");
  EXPECT_EQ(PromptTemplate::load(file.string()).render(small_item()).text, "Where is it?\nAnswer:");
  EXPECT_EQ(PromptTemplate::load("flow").name(), "flow");
  EXPECT_TRUE(
      fails_with<UsageError>([] { PromptTemplate::load("no-such-prompt"); },
                             {"prompt template", "a file or one of", "shared-passages", "no-such-prompt"}));
}

TEST(ReadyPrompt, FindsQuestionAndPassagesInIt) {
  Item item = small_item();
  item.passages[0].text = "Where is it? asked Paris.";
  item.prompt = "Read: Where is it? asked Paris. It is in Paris. Now: Where is it? Say it.";
  const RenderedPrompt prompt = ready_prompt(item);
  EXPECT_EQ(prompt.text, *item.prompt);
  EXPECT_EQ(region_texts(prompt), (Texts{"document 1=Where is it? asked Paris.", "document 2=It is in Paris.",
                                         "query=Where is it?"}));
  ASSERT_EQ(prompt.evidence.size(), 1U);
  EXPECT_EQ(prompt.evidence[0].name, "document 2");
}

TEST(ReadyPrompt, WhatIsNotInItIsNoRegion) {
  Item item = small_item();
  item.prompt = "Something else. It is in Paris.";
  EXPECT_EQ(region_texts(ready_prompt(item)), Texts{"document 2=It is in Paris."});
  item.prompt.reset();
  EXPECT_TRUE(fails_with<UsageError>([&] { ready_prompt(item); }, {"item one", "a ready prompt", "none"}));
}

}  // namespace
}  // namespace buoy::questions
