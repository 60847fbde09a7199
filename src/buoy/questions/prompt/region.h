#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::questions {

inline constexpr std::string_view kBosRegion = "bos";            // the first token, where it is BOS
inline constexpr std::string_view kTemplateRegion = "template";  // what belongs to no other region
inline constexpr std::string_view kQueryRegion = "query";
inline constexpr std::string_view kPromptRegion = "prompt";    // a prompt that is no question in a template
inline constexpr std::string_view kAnswerRegion = "answer";    // generated slots
inline constexpr std::string_view kPaddingRegion = "padding";  // of these, from the first end token on

std::string document_region(std::size_t number);  // "document 3"; from 1

// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct RegionSpan {
  std::string name;
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const RegionSpan&, const RegionSpan&) = default;
};

struct RenderedPrompt {
  std::string text;
  // In the order of the text, disjoint, not empty. Bytes in none of them are the template's.
  std::vector<RegionSpan> regions;
  // Where answers occur in the passages, named by the document they are in. A finer look at some of the
  // regions, not regions of their own.
  std::vector<RegionSpan> evidence;
  // What comes from the item: question, titles and texts of passages. In the order of the text, disjoint, not
  // empty. All else is text of the template, also inside a region: "Passage 3:".
  std::vector<RegionSpan> filled = {};
};

}  // namespace buoy::questions
