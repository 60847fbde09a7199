#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "buoy/questions/score/answer.h"
#include "buoy/text/chat/chat_style.h"
#include "buoy/text/chat/chat_template.h"

namespace buoy::run {

enum class ChatUse { kWhenThereIsOne, kAlways, kNever };

// Whether and how a text becomes a user's message.
struct ChatChoice {
  bool use = false;
  std::string system;
  std::string style;  // a style written by hand; "": the folder's own template
  bool no_thinking = false;
  std::string date = {};  // that templates are told, as in 2024-07-26; "": that day
};

// The choice for a folder. Where there need be none, a style or a system message still demands one:
// UsageError or InputError when the folder has no chat template that Buoy knows.
ChatChoice settle(ChatUse use, ChatChoice choice, const std::filesystem::path& folder);

// Whether the folder has a chat template, usable or not.
bool has_chat_template(const std::filesystem::path& folder);
// Why the folder's own chat template cannot be used: there is none, or what Buoy does not know in it, with
// construct and line. Nothing when it can be used.
std::optional<std::string> why_no_chat_template(const std::filesystem::path& folder);

// Turns texts into user's messages, by the folder's own template or by a style of the choice.
class ChatRenderer {
 public:
  // InputError when the folder's template cannot be used; it names `style` as the way out. UsageError
  // for a style or date that is none.
  ChatRenderer(const ChatChoice& choice, const std::filesystem::path& folder);

  std::string user_message(const std::string& text) const;
  // How the answers to such messages end.
  questions::AnswerRules answer_rules(const text::Tokenizer& tokenizer) const;

 private:
  std::string system_;
  text::ChatOptions options_;
  std::variant<text::ChatStyle, text::ChatTemplate> form_;
};

}  // namespace buoy::run
