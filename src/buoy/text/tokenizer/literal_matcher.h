#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/text/tokenizer/byte_span.h"

namespace buoy::text {

// Finds literals, leftmost first and longest among those that begin at the same place. Time is linear in
// the text for a given longest literal.
class LiteralMatcher {
 public:
  LiteralMatcher() : nodes_(1) {}

  // False, and nothing changed, when the literal is empty or was added before.
  bool add(std::string_view literal, std::int32_t id);

  struct Match {
    std::int32_t id;
    ByteSpan span;
  };
  // Matches in order; they do not overlap.
  std::vector<Match> find_all(std::string_view text) const;

 private:
  struct Node {
    std::int32_t id = -1;
    std::vector<std::pair<char, std::uint32_t>> children;  // few, so searched one by one
  };

  const std::uint32_t* child(std::uint32_t node, char c) const;
  Match longest_at(std::string_view text, size_t begin) const;

  std::vector<Node> nodes_;
};

}  // namespace buoy::text
