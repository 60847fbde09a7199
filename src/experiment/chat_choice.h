#pragma once

#include <filesystem>
#include <string>

namespace buoy::experiment {

enum class ChatUse { kWhenThereIsOne, kAlways, kNever };

// Whether and how a text becomes a user's message.
struct ChatChoice {
  bool use = false;
  std::string system;
  std::string style;  // "": detected from the folder
  bool no_thinking = false;
};

// The choice for a folder. Where there need be none, a style or a system message still demands one: UsageError
// or InputError when the folder has no chat template that Buoy knows.
ChatChoice settle(ChatUse use, ChatChoice choice, const std::filesystem::path& folder);

// The text as a user's message in the model's chat template.
std::string render_user_message(const ChatChoice& choice, const std::filesystem::path& folder,
                                const std::string& text);

}  // namespace buoy::experiment
