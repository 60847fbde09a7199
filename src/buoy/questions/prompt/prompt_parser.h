#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace buoy::questions {

// A prompt template as a tree. docs/data-formats.md describes the language.
struct PromptNode {
  enum class Kind {
    kLiteral,
    kQuestion,
    kNumber,      // of the passage, from 1
    kTitle,       // of the passage
    kText,        // of the passage
    kPassages,    // children once per passage
    kNoPassages,  // children when the item has no passage
    kIfTitle,     // children when the passage has a title
    kRegion,      // children, as a region of the name in `text`
  };

  Kind kind = Kind::kLiteral;
  std::string text;
  std::vector<PromptNode> children;
};

// InputError "name:line:column" for tags that are unknown, not closed, closed by another or out of place,
// for regions that occur twice, and for a template without a question.
std::vector<PromptNode> parse_prompt(std::string_view text, const std::string& name);

}  // namespace buoy::questions
