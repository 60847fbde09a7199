#pragma once

#include <map>
#include <set>
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
    kLetter,      // of the passage, from A
    kTitle,       // of the passage
    kText,        // of the passage
    kPassages,    // children once per passage
    kNoPassages,  // children when the item has no passage
    kIfTitle,     // children when the passage has a title
    kRegion,      // children, as a region of the name in `text`
    kIfLabel,     // children when the item's label named by `label` is `text`
  };

  Kind kind = Kind::kLiteral;
  std::string text;
  std::vector<PromptNode> children;
  std::string label = {};
};

// Label > its values that a template tells apart, wherever they stand in it.
std::map<std::string, std::set<std::string>> labels_of(const std::vector<PromptNode>& nodes);

// InputError "name:line:column" for tags that are unknown, not closed, closed by another or out of place,
// for regions that occur twice, and for a template without a question.
std::vector<PromptNode> parse_prompt(std::string_view text, const std::string& name);

}  // namespace buoy::questions
