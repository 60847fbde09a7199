#include "buoy/text/chat/chat_style.h"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/text/python_strip.h"
#include "text/support.h"

namespace buoy::text {
namespace {

const std::map<std::string, jinja::Date> kDates = {{"01 Jan 2026", {2026, 1, 1}}};

// What the released templates render, by a Jinja interpreter; docs/tokenizers.md tells how.
TEST(ChatStyle, RendersAsTheReleasedTemplatesDo) {
  const Json file = chat_renderings();
  ASSERT_GT(file.at("cases").size(), 200U);
  for (const Json& item : file.at("cases")) {
    std::vector<Message> messages;
    for (const Json& message : file.at("conversations").at(item.at("conversation").get<size_t>())) {
      messages.push_back({message.at("role"), message.at("content")});
    }
    ChatOptions options;
    options.add_generation_prompt = item.value("add_generation_prompt", true);
    if (item.contains("enable_thinking")) options.enable_thinking = item.at("enable_thinking").get<bool>();
    if (item.contains("date")) options.date = kDates.at(item.at("date").get<std::string>());
    const auto style = chat_style_from_name(item.at("style").get<std::string>());
    ASSERT_TRUE(style) << item.at("style");
    EXPECT_EQ(render_chat(*style, messages, options), item.at("rendered").get<std::string>()) << item.dump();
  }
}

TEST(ChatStyle, OneQuestionInEveryStyle) {
  const std::vector<Message> question = {{"user", "What is 2+2?"}};
  const auto render = [&](ChatStyle style) { return render_chat(style, question, {}); };
  EXPECT_EQ(render(ChatStyle::kLlada),
            "<|startoftext|><|start_header_id|>user<|end_header_id|>\n\nWhat is 2+2?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(
      render(ChatStyle::kDream),
      "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nWhat is 2+2?<|im_end|>\n"
      "<|im_start|>assistant\n");
  EXPECT_EQ(
      render(ChatStyle::kLlama31),
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
      "Today Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhat is "
      "2+2?<|eot_id|>"
      "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(render(ChatStyle::kQwen3), "<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatStyle, DreamKeepsContentAndAGivenSystemMessage) {
  const std::vector<Message> messages = {{"system", " Be brief. "}, {"user", "Hi\n"}, {"assistant", "Hi."}};
  ChatOptions options;
  options.add_generation_prompt = false;
  EXPECT_EQ(render_chat(ChatStyle::kDream, messages, options),
            "<|im_start|>system\n Be brief. <|im_end|>\n<|im_start|>user\nHi\n<|im_end|>\n"
            "<|im_start|>assistant\nHi.<|im_end|>\n");
}

TEST(ChatStyle, RefusesWhatNoTemplateRenders) {
  EXPECT_THROW(render_chat(ChatStyle::kLlada, {}, {}), UsageError);
  const std::vector<Message> tool = {{"tool", "4"}};
  for (const ChatStyle style :
       {ChatStyle::kLlama31, ChatStyle::kQwen25, ChatStyle::kQwen3, ChatStyle::kDream}) {
    EXPECT_THROW(render_chat(style, tool, {}), UsageError);
  }
  EXPECT_NO_THROW(render_chat(ChatStyle::kLlada, tool, {}));
  const std::vector<Message> broken = {{"user", "a\xFF"}};
  EXPECT_THROW(render_chat(ChatStyle::kLlada, broken, {}), InputError);
}

TEST(ChatStyle, NamesGoBothWays) {
  for (const std::string_view name : chat_style_names()) {
    const auto style = chat_style_from_name(name);
    ASSERT_TRUE(style);
    EXPECT_EQ(chat_style_name(*style), name);
  }
  EXPECT_FALSE(chat_style_from_name("gpt"));
}

TEST(PythonStrip, StripsWhatPythonStrips) {
  EXPECT_EQ(python_strip(" \t\n\x1C\u0085\u00A0\u2003\u3000x y\u2028\u202F\r\n"), "x y");
  EXPECT_EQ(python_strip("\u200Bx\uFEFF"), "\u200Bx\uFEFF");
  EXPECT_EQ(python_strip("\u3000 "), "");
  EXPECT_EQ(python_strip(""), "");
}

}  // namespace
}  // namespace buoy::text
