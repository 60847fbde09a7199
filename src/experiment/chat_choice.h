#pragma once

#include <filesystem>
#include <string>

namespace buoy::experiment {

// Whether and how a text becomes a user's message.
struct ChatChoice {
  bool use = false;
  std::string system;
  std::string style;  // "": detected from the folder
  bool no_thinking = false;
};

// The text as a user's message in the model's chat template.
std::string render_user_message(const ChatChoice& choice, const std::filesystem::path& folder,
                                const std::string& text);

}  // namespace buoy::experiment
