#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::text {

struct Message {
  std::string role;
  std::string content;
};

// The released chat templates Buoy renders by itself.
enum class ChatStyle {
  kLlada,
  kLlama3,
  kLlama3First,  // Llama 3's first release, which opens the assistant's turn whether asked to or not
  kLlama31,
  kQwen25,
  kQwen3,
  kDream,
};

struct ChatOptions {
  bool add_generation_prompt = true;  // open the assistant's turn; LLaDA and llama3-first always do
  bool enable_thinking = true;        // Qwen3: false closes the thinking part before it begins
  std::string date = "26 Jul 2024";   // Llama 3.1: "Today Date"
};

std::string_view chat_style_name(ChatStyle style);  // "llada", "llama3", ...
std::optional<ChatStyle> chat_style_from_name(std::string_view name);
std::vector<std::string_view> chat_style_names();

// The conversation as the released template renders it, byte for byte, without tools. Encode the result
// without special tokens: BOS is in the text. UsageError for an empty conversation or a role the template
// does not know.
std::string render_chat(ChatStyle style, std::span<const Message> messages, const ChatOptions& options);

}  // namespace buoy::text
