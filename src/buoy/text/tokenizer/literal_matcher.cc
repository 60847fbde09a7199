#include "buoy/text/tokenizer/literal_matcher.h"

#include <array>

namespace buoy::text {

const std::uint32_t* LiteralMatcher::child(std::uint32_t node, char c) const {
  for (const auto& [label, target] : nodes_[node].children) {
    if (label == c) return &target;
  }
  return nullptr;
}

bool LiteralMatcher::add(std::string_view literal, std::int32_t id) {
  if (literal.empty()) return false;
  std::uint32_t node = 0;
  for (const char c : literal) {
    if (const std::uint32_t* next = child(node, c)) {
      node = *next;
      continue;
    }
    const auto created = static_cast<std::uint32_t>(nodes_.size());
    nodes_[node].children.emplace_back(c, created);
    nodes_.emplace_back();
    node = created;
  }
  if (nodes_[node].id >= 0) return false;
  nodes_[node].id = id;
  return true;
}

LiteralMatcher::Match LiteralMatcher::longest_at(std::string_view text, size_t begin) const {
  Match longest{-1, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin)}};
  std::uint32_t node = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    const std::uint32_t* next = child(node, text[at]);
    if (next == nullptr) break;
    node = *next;
    if (nodes_[node].id >= 0) {
      longest.id = nodes_[node].id;
      longest.span.end = static_cast<std::uint32_t>(at + 1);
    }
  }
  return longest;
}

std::vector<LiteralMatcher::Match> LiteralMatcher::find_all(std::string_view text) const {
  std::array<bool, 256> begins_literal{};
  for (const auto& [label, target] : nodes_[0].children)
    begins_literal[static_cast<unsigned char>(label)] = true;

  std::vector<Match> matches;
  for (size_t at = 0; at < text.size();) {
    if (begins_literal[static_cast<unsigned char>(text[at])]) {
      const Match longest = longest_at(text, at);
      if (longest.id >= 0) {
        matches.push_back(longest);
        at = longest.span.end;
        continue;
      }
    }
    ++at;
  }
  return matches;
}

}  // namespace buoy::text
