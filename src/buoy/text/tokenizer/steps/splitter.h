#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/text/tokenizer/byte_span.h"
#include "buoy/text/tokenizer/steps/pattern.h"

namespace buoy::text {

// What becomes of the matches of a pattern where text is cut.
enum class SplitBehavior {
  kIsolated,            // each is a piece
  kRemoved,             // they are left out
  kMergedWithPrevious,  // each ends the piece before it
  kMergedWithNext,      // each begins the piece behind it
  kContiguous,          // matches in a row are one piece
};

// Cuts text at the matches of a pattern.
class Splitter {
 public:
  // invert: what does not match is taken as matches, and matches as what lies between.
  Splitter(Pattern pattern, SplitBehavior behavior, bool invert = false)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  // The pieces in order; none is empty. They cover the text, unless matches are removed. The text must be
  // well-formed UTF-8 of less than 4 GiB.
  std::vector<ByteSpan> pieces(std::string_view text) const;

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

}  // namespace buoy::text
