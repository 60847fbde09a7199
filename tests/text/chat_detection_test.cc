#include "text/chat_detection.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/temp_folder.h"
#include "text/support.h"

namespace buoy::text {
namespace {

const std::string kHeaders =
    "{% for m in messages %}{% set content = '<|start_header_id|>' + m.role + '<|end_header_id|>' + "
    "m.content | trim + "
    "'<|eot_id|>' %}{{ bos_token + content }}{% endfor %}";
const std::string kChatml =
    "{% for m in messages %}<|im_start|><|im_end|>{% endfor %}{% if add_generation_prompt %}";

TEST(ChatDetection, TellsStylesApart) {
  constexpr std::string_view kBegin = "<|begin_of_text|>";
  EXPECT_EQ(recognize_template(kHeaders, "<|startoftext|>"), ChatStyle::kLlada);
  EXPECT_EQ(recognize_template(kHeaders, kBegin), ChatStyle::kLlama3First);
  EXPECT_EQ(recognize_template(kHeaders + "{% if add_generation_prompt %}", kBegin), ChatStyle::kLlama3);
  EXPECT_EQ(recognize_template(kHeaders + "Cutting Knowledge Date: December 2023 26 Jul 2024", kBegin),
            ChatStyle::kLlama31);
  EXPECT_EQ(recognize_template(kChatml + "You are a helpful assistant.", ""), ChatStyle::kDream);
  EXPECT_EQ(recognize_template(
                kChatml + "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", ""),
            ChatStyle::kQwen25);
  EXPECT_EQ(recognize_template(kChatml + "last_query_index </think> enable_thinking is false", ""),
            ChatStyle::kQwen3);
}

TEST(ChatDetection, DoesNotGuess) {
  EXPECT_FALSE(recognize_template("", ""));
  EXPECT_FALSE(recognize_template("[INST] {{ messages }} [/INST]", ""));
  EXPECT_FALSE(recognize_template(kHeaders, "<s>"));
  EXPECT_FALSE(
      recognize_template(kHeaders + "Cutting Knowledge Date: December 2023 26 Jul 2024 strftime_now", ""));
  EXPECT_FALSE(recognize_template(kChatml + "You are a pirate.", ""));
  EXPECT_FALSE(recognize_template(kChatml + "<think> You are a helpful assistant.", ""));
}

TEST(ChatDetection, ReadsTheFilesOfAFolder) {
  const testing::TempFolder folder;
  const auto config = [](const Json& chat_template) {
    return Json{{"bos_token", {{"content", "<|startoftext|>"}}}, {"chat_template", chat_template}}.dump();
  };
  EXPECT_NE(error_message<InputError>([&] { detect_chat_style(folder.path()); }).find("a chat template"),
            std::string::npos);
  folder.write("tokenizer_config.json", config(kHeaders));
  EXPECT_EQ(detect_chat_style(folder.path()), ChatStyle::kLlada);
  folder.write("tokenizer_config.json", config({{{"name", "tool_use"}, {"template", "?"}},
                                                {{"name", "default"}, {"template", kHeaders}}}));
  EXPECT_EQ(detect_chat_style(folder.path()), ChatStyle::kLlada);
  folder.write("chat_template.json",
               Json{{"chat_template", kChatml + "You are a helpful assistant."}}.dump());
  EXPECT_EQ(detect_chat_style(folder.path()), ChatStyle::kDream);
  folder.write("chat_template.jinja", "unheard of");
  const std::string message = error_message<InputError>([&] { detect_chat_style(folder.path()); });
  EXPECT_NE(message.find("chat_template.jinja"), std::string::npos) << message;
  EXPECT_NE(message.find("--chat-style NAME"), std::string::npos) << message;
  EXPECT_NE(message.find("llada, llama3"), std::string::npos) << message;
}

TEST(ChatDetection, RecognisesTheReleasedTemplates) {
  BUOY_NEEDS_TOKENIZER(llama3, "llama3");
  BUOY_NEEDS_TOKENIZER(llama31, "llama31");
  BUOY_NEEDS_TOKENIZER(qwen25, "qwen2_5");
  BUOY_NEEDS_TOKENIZER(qwen3, "qwen3");
  EXPECT_EQ(detect_chat_style(*llama3), ChatStyle::kLlama3First);
  EXPECT_EQ(detect_chat_style(*llama31), ChatStyle::kLlama3);  // the package has the first 3.1 release
  EXPECT_EQ(detect_chat_style(*qwen25), ChatStyle::kQwen25);
  EXPECT_EQ(detect_chat_style(*qwen3), ChatStyle::kQwen3);
}

}  // namespace
}  // namespace buoy::text
