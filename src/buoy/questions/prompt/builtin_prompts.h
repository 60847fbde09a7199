#pragma once

#include <span>
#include <string_view>

namespace buoy::questions {

struct BuiltinPrompt {
  std::string_view name;
  std::string_view about;  // one line, for people
  std::string_view text;   // a template
};

std::span<const BuiltinPrompt> builtin_prompts();

// In place of a template: every question has a ready prompt of its own.
inline constexpr std::string_view kReadyPrompts = "ready";

}  // namespace buoy::questions
