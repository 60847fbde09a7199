#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace buoy::questions {

// A stretch of literal text or a tag of a prompt template.
struct PromptToken {
  enum class Kind { kLiteral, kValue, kOpen, kOpenInverted, kClose };

  Kind kind = Kind::kLiteral;
  std::string text;   // the literal, or what stands inside the tag, trimmed: "region query"
  std::string where;  // "name:line:column"
};

// Comments are gone, and so is the rest of every line that held a section tag or a comment and nothing else.
// Line ends are LF; one at the very end is dropped. InputError for a tag without an end.
std::vector<PromptToken> scan_prompt(std::string_view text, const std::string& name);

}  // namespace buoy::questions
