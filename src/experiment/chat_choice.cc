#include "experiment/chat_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/chat_detection.h"
#include "text/chat_template.h"

namespace buoy::experiment {
namespace {

text::ChatStyle chat_style(const ChatChoice& choice, const std::filesystem::path& folder) {
  if (choice.style.empty()) return text::detect_chat_style(folder);
  if (const auto style = text::chat_style_from_name(choice.style)) return *style;
  throw_usage_error({"--chat-style", fmt::format("one of {}", fmt::join(text::chat_style_names(), ", ")),
                     '"' + choice.style + '"'});
}

bool has_chat_template(const std::filesystem::path& folder) {
  try {
    text::detect_chat_style(folder);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

ChatChoice settle(ChatUse use, ChatChoice choice, const std::filesystem::path& folder) {
  if (first_invalid_utf8(choice.system) < choice.system.size())
    throw_usage_error({"--system", "well-formed UTF-8", replace_invalid_utf8(choice.system)});
  const bool demanded = use == ChatUse::kAlways || !choice.style.empty() || !choice.system.empty();
  choice.use = use != ChatUse::kNever && (demanded || has_chat_template(folder));
  if (choice.use) chat_style(choice, folder);  // refuses what it does not know, before any work
  return choice;
}

std::string render_user_message(const ChatChoice& choice, const std::filesystem::path& folder,
                                const std::string& text) {
  std::vector<text::Message> messages;
  if (!choice.system.empty()) messages.push_back({"system", choice.system});
  messages.push_back({"user", text});
  text::ChatOptions chat;
  chat.enable_thinking = !choice.no_thinking;
  return text::render_chat(chat_style(choice, folder), messages, chat);
}

}  // namespace buoy::experiment
