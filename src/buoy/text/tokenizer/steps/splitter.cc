#include "buoy/text/tokenizer/steps/splitter.h"

#include <algorithm>

namespace buoy::text {
namespace {

struct Stretch {
  ByteSpan span;
  bool match;
};

// Matches and what lies between them.
std::vector<Stretch> stretches(const std::vector<ByteSpan>& matches, std::string_view text, bool invert) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::vector<Stretch> all;
  all.reserve(2 * matches.size() + 1);
  std::uint32_t done = 0;
  for (const ByteSpan match : matches) {
    if (match.begin > done) all.push_back({{done, match.begin}, invert});
    all.push_back({match, !invert});
    done = match.end;
  }
  if (done < size) all.push_back({{done, size}, invert});
  return all;
}

// The stretch that is behind `last` in reading order joins it.
void join(ByteSpan& last, ByteSpan next) {
  last = {std::min(last.begin, next.begin), std::max(last.end, next.end)};
}

// A match joins the stretch before it, if that is no match. [first, last) may run backwards.
template <typename Iterator>
std::vector<ByteSpan> merge_matches(Iterator first, Iterator last) {
  std::vector<ByteSpan> pieces;
  bool after_match = false;
  for (; first != last; ++first) {
    if (first->match && !after_match && !pieces.empty()) {
      join(pieces.back(), first->span);
    } else {
      pieces.push_back(first->span);
    }
    after_match = first->match;
  }
  return pieces;
}

std::vector<ByteSpan> merge_alike(const std::vector<Stretch>& all) {
  std::vector<ByteSpan> pieces;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].match == all[i - 1].match) {
      join(pieces.back(), all[i].span);
    } else {
      pieces.push_back(all[i].span);
    }
  }
  return pieces;
}

}  // namespace

std::vector<ByteSpan> Splitter::pieces(std::string_view text) const {
  const auto all = stretches(pattern_.find_all(text), text, invert_);
  std::vector<ByteSpan> pieces;
  switch (behavior_) {
    case SplitBehavior::kIsolated:
    case SplitBehavior::kRemoved:
      for (const Stretch& stretch : all) {
        if (behavior_ == SplitBehavior::kIsolated || !stretch.match) pieces.push_back(stretch.span);
      }
      break;
    case SplitBehavior::kMergedWithPrevious:
      pieces = merge_matches(all.begin(), all.end());
      break;
    case SplitBehavior::kMergedWithNext:
      pieces = merge_matches(all.rbegin(), all.rend());
      std::reverse(pieces.begin(), pieces.end());
      break;
    case SplitBehavior::kContiguous:
      pieces = merge_alike(all);
      break;
  }
  std::erase_if(pieces, [](ByteSpan span) { return span.begin == span.end; });
  return pieces;
}

}  // namespace buoy::text
