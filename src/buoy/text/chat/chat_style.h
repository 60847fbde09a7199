#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/text/chat/conversation.h"

namespace buoy::text {

// Released chat templates written by hand, for folders whose own template is missing or refused.
enum class ChatStyle {
  kLlada,
  kLlama3,
  kLlama3First,  // Llama 3's first release, which opens the assistant's turn whether asked to or not
  kLlama31,
  kQwen25,
  kQwen3,
  kDream,
};

std::string_view chat_style_name(ChatStyle style);  // "llada", "llama3", ...
std::optional<ChatStyle> chat_style_from_name(std::string_view name);
std::vector<std::string_view> chat_style_names();

// The conversation as the released template renders it, byte for byte, without tools. Encode the result
// without special tokens: BOS is in the text. UsageError for an empty conversation or a role the template
// does not know.
std::string render_chat(ChatStyle style, std::span<const Message> messages, const ChatOptions& options);

}  // namespace buoy::text
