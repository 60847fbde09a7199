#include "buoy/questions/prompt/token_regions.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/questions/prompt/chat_prompt.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/text/chat/chat_style.h"
#include "buoy/text/chat/chat_template.h"
#include "questions/questions_data.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;
using Spans = std::vector<text::ByteSpan>;
using Regions = std::vector<RegionSpan>;
using Texts = std::vector<std::string>;

Texts regions_by_name(const TokenRegions& regions) {
  Texts names;
  for (const std::int32_t region : regions.region_of_token) names.push_back(regions.names.at(region));
  return names;
}

TEST(TokenRegions, EachTokenHasOne) {
  const Regions regions = {{"query", 2, 6}, {"document 1", 6, 10}};
  const auto result = regions_of_tokens(Spans{{0, 2}, {2, 4}, {4, 6}, {6, 10}, {10, 12}}, regions, false);
  EXPECT_EQ(result.names, (Texts{"template", "query", "document 1"}));
  EXPECT_EQ(result.region_of_token, (std::vector<std::int32_t>{0, 1, 1, 2, 0}));
}

TEST(TokenRegions, TheRegionWithMostOfTheBytesWins) {
  const Regions regions = {{"query", 2, 6}, {"document 1", 6, 10}, {"document 2", 10, 11}};
  const auto of = [&](text::ByteSpan token) {
    return regions_by_name(regions_of_tokens(Spans{token}, regions, false)).front();
  };
  EXPECT_EQ(of({5, 8}), "document 1");
  EXPECT_EQ(of({3, 7}), "query");
  EXPECT_EQ(of({4, 8}), "query") << "of equals the first";
  EXPECT_EQ(of({0, 3}), "template");
  EXPECT_EQ(of({1, 3}), "template") << "of equals the first, the template too";
  EXPECT_EQ(of({1, 4}), "query");
  EXPECT_EQ(of({10, 12}), "document 2");
  EXPECT_EQ(of({0, 20}), "template") << "2 bytes before, 9 behind, against 4, 4 and 1";
  EXPECT_EQ(of({2, 11}), "query");
}

TEST(TokenRegions, EmptyTokensBelongWhereTheyStand) {
  const Regions regions = {{"query", 2, 6}};
  EXPECT_EQ(regions_by_name(regions_of_tokens(Spans{{0, 0}, {2, 2}, {5, 5}, {6, 6}}, regions, false)),
            (Texts{"template", "query", "query", "template"}));
}

TEST(TokenRegions, BosIsARegionOfItsOwn) {
  const Regions regions = {{"query", 0, 6}};
  const auto put_before = regions_of_tokens(Spans{{0, 0}, {0, 6}}, regions, true);
  EXPECT_EQ(put_before.names, (Texts{"bos", "template", "query"}));
  EXPECT_EQ(regions_by_name(put_before), (Texts{"bos", "query"}));
  EXPECT_EQ(regions_by_name(regions_of_tokens(Spans{{0, 3}, {3, 6}}, regions, true)),
            (Texts{"bos", "query"}));
}

TEST(TokenRegions, GeneratedSlotsAreTheAnswer) {
  TokenRegions regions = regions_of_tokens(Spans{{0, 4}}, Regions{{"query", 0, 4}}, false);
  add_answer_slots(regions, 2);
  EXPECT_EQ(regions_by_name(regions), (Texts{"query", "answer", "answer"}));
}

TEST(TokenRegions, RegionsMustBeInOrder) {
  EXPECT_THROW(regions_of_tokens({}, Regions{{"b", 2, 4}, {"a", 0, 2}}, false), InternalError);
  EXPECT_THROW(regions_of_tokens({}, Regions{{"a", 0, 3}, {"b", 2, 4}}, false), InternalError);
}

TEST(TokenRegions, TokensOfTheEvidence) {
  const Spans tokens = {{0, 3}, {3, 6}, {6, 6}, {6, 9}, {9, 12}};
  EXPECT_EQ(tokens_touching(tokens, Regions{{"document 1", 5, 7}}), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(tokens_touching(tokens, Regions{{"document 1", 3, 6}, {"document 2", 11, 12}}),
            (std::vector<std::int32_t>{1, 4}));
  EXPECT_TRUE(tokens_touching(tokens, {}).empty());
}

RenderedPrompt sea_prompt(const std::string& text) {
  Item item;
  item.id = "sea";
  item.question = "the sea?";
  item.answers = {"buoy"};
  item.passages = {{.text = "and the buoy"}};
  return PromptTemplate::parse(text, "t").render(item);
}

std::string text_of(const RenderedPrompt& prompt, const RegionSpan& region) {
  return prompt.text.substr(region.begin, region.end - region.begin);
}

TEST(ChatPrompt, RegionsMoveWithTheMessageInEveryTemplate) {
  const RenderedPrompt prompt = sea_prompt("{{#passages}}[{{text}}] {{/passages}}Q: {{question}} A:");
  for (const auto name : text::chat_style_names()) {
    SCOPED_TRACE(name);
    const std::vector<text::Message> messages = {{"user", prompt.text}};
    const std::string chat = text::render_chat(*text::chat_style_from_name(name), messages, {});
    const RenderedPrompt whole = in_chat(prompt, chat, 0);
    EXPECT_EQ(whole.text, chat);
    ASSERT_EQ(whole.regions.size(), 2U);
    EXPECT_EQ(text_of(whole, whole.regions[0]), "[and the buoy] ");
    EXPECT_EQ(text_of(whole, whole.regions[1]), "the sea?");
    EXPECT_EQ(whole.regions[1].name, "query");
    ASSERT_EQ(whole.evidence.size(), 1U);
    EXPECT_EQ(text_of(whole, whole.evidence[0]), "buoy");
  }
}

// Labels of passages are the template's though they stand in the region of the passage; the number in them,
// too. Titles, texts and the question are the item's.
TEST(TokenRegions, TextOfTheTemplateInsideADocument) {
  Item item;
  item.question = "who?";
  item.passages = {{.title = "Sea", .text = "a buoy"}, {.title = "", .text = "b"}};
  const auto prompt = PromptTemplate::parse(
                          "{{#passages}}Passage {{number}}{{#title}} ({{title}}){{/title}}: {{text}}\n"
                          "{{/passages}}Q: {{question}}",
                          "t")
                          .render(item);
  ASSERT_EQ(prompt.text, "Passage 1 (Sea): a buoy\nPassage 2: b\nQ: who?");
  std::string filled;
  for (const auto& span : prompt.filled) filled += text_of(prompt, span) + "|";
  EXPECT_EQ(filled, "Sea|a buoy|b|who?|");
  // "Passage", " 1", " (", "Sea", "):", " a", " buoy", "\nP": of equals (" a" is half text) the first, a
  // blank of the template.
  const Spans tokens = {{0, 7}, {7, 9}, {9, 11}, {11, 14}, {14, 16}, {16, 18}, {18, 23}, {23, 25}};
  EXPECT_EQ(tokens_outside(tokens, prompt.filled), (std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(regions_of_tokens(tokens, prompt.regions, false).region_of_token,
            (std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 1, 1}))
      << "all in document 1, the first of equals for the last token";
  const auto chat = in_chat(prompt, "<user>" + prompt.text + "<end>", 0);
  ASSERT_EQ(chat.filled.size(), 4U);
  EXPECT_EQ(text_of(chat, chat.filled[3]), "who?");
}

TEST(ChatPrompt, WhiteSpaceAtTheEndsMayBeTrimmed) {
  const RenderedPrompt prompt = sea_prompt(" \t {{#region query}}  {{question}} \t {{/region}}");
  const auto query_in = [&](const std::string& chat) {
    const RenderedPrompt whole = in_chat(prompt, chat, 0);
    return whole.regions.empty() ? "none" : text_of(whole, whole.regions.at(0));
  };
  EXPECT_EQ(query_in("<user>" + prompt.text + "<end>"), "  the sea? \t ");
  EXPECT_EQ(query_in("<user>the sea?<end>"), "the sea?");
  EXPECT_EQ(query_in("<user>\t   the sea?<end>"), "  the sea?");
}

// Templates of folders may trim, wrap or repeat a message.
TEST(ChatPrompt, RegionsAreFoundInAnyTemplate) {
  const RenderedPrompt prompt = sea_prompt("  {{#passages}}[{{text}}] {{/passages}}Q: {{question}} A:\n");
  for (const std::string text :
       {"<s>[INST] {{ messages[0].content | trim }} [/INST]",
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}user: the sea?",
        "{{ messages[0].content.strip('\\n') }}{{ messages[0].content }}"}) {
    SCOPED_TRACE(text);
    const auto chat = text::ChatTemplate::parse(text, "t", {});
    const auto render = [&](const std::string& content) {
      const std::vector<text::Message> messages = {{"user", content}};
      return chat.render(messages, {});
    };
    const RenderedPrompt whole = in_chat(prompt, render(prompt.text), message_begin(render));
    ASSERT_EQ(whole.regions.size(), 2U);
    EXPECT_EQ(text_of(whole, whole.regions[0]), "[and the buoy] ");
    EXPECT_EQ(text_of(whole, whole.regions[1]), "the sea?");
    ASSERT_EQ(whole.evidence.size(), 1U);
    EXPECT_EQ(text_of(whole, whole.evidence[0]), "buoy");
  }
  const auto changed = text::ChatTemplate::parse("{{ messages[0].content | tojson | upper }}", "t", {});
  const std::vector<text::Message> messages = {{"user", prompt.text}};
  EXPECT_TRUE(
      fails_with<UsageError>([&] { in_chat(prompt, changed.render(messages, {}), 0); }, {"no such text"}));
}

TEST(ChatPrompt, ThePromptMustBeThere) {
  const RenderedPrompt prompt = sea_prompt("{{question}}");
  EXPECT_TRUE(
      fails_with<UsageError>([&] { in_chat(prompt, "<user>other<end>", 0); }, {"the prompt", "no such"}));
}

// "user" is in the template of every chat; the message is where messages begin.
TEST(ChatPrompt, AMessageThatReadsLikeTheTemplateIsFoundWhereMessagesBegin) {
  RenderedPrompt prompt{"user", {{"query", 0, 4}}, {}};
  for (const auto name : text::chat_style_names()) {
    SCOPED_TRACE(name);
    const auto render = [&](const std::string& content) {
      const std::vector<text::Message> messages = {{"user", content}};
      return text::render_chat(*text::chat_style_from_name(name), messages, {});
    };
    const std::string chat = render("user");
    const RenderedPrompt whole = in_chat(prompt, chat, message_begin(render));
    ASSERT_EQ(whole.regions.size(), 1U);
    EXPECT_EQ(whole.regions[0].begin, render("#####").find("#####"));
  }
}

TEST(ChatPrompt, FromTemplateToTokens) {
  const RenderedPrompt prompt = sea_prompt("{{#passages}}{{text}}{{/passages}} {{question}}");
  const std::vector<text::Message> messages = {{"user", prompt.text}};
  const RenderedPrompt whole = in_chat(prompt, text::render_chat(text::ChatStyle::kLlada, messages, {}), 0);
  const text::Tokenizer tokenizer = tiny_tokenizer();
  const text::Encoding encoding = tokenizer.encode(whole.text, false);
  const TokenRegions regions = regions_of_tokens(encoding.spans, whole.regions, true);
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    texts[regions.names[regions.region_of_token[i]]] += tokenizer.token_text(encoding.ids[i]);
  }
  EXPECT_EQ(texts.at("bos"), "<|startoftext|>");
  EXPECT_EQ(texts.at("document 1"), "and the buoy");
  EXPECT_EQ(texts.at("query"), " the sea?") << "the token \" the\" lies mostly in the query";
  EXPECT_TRUE(texts.at("template").starts_with("<|start_header_id|>user"));
  const auto evidence = tokens_touching(encoding.spans, whole.evidence);
  ASSERT_EQ(evidence.size(), 1U);
  EXPECT_EQ(tokenizer.token_text(encoding.ids[evidence[0]]), "buoy");
}

}  // namespace
}  // namespace buoy::questions
