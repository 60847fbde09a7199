#pragma once

#include <vector>

#include "buoy/text/tokenizer/byte_span.h"

namespace buoy::text {

// Where the bytes of a rewritten text come from. Holds only the places that changed; between them
// offsets differ by a constant.
class Alignment {
 public:
  struct Change {
    ByteSpan normalized;
    ByteSpan original;
  };

  // Changes come in order and may touch. Neither side is empty.
  void add(const Change& change) { changes_.push_back(change); }

  // The original bytes behind a normalised span. A span that holds part of a changed place covers all of
  // that place in the original, so neighbours may overlap there.
  ByteSpan original(ByteSpan normalized) const;

 private:
  std::vector<Change> changes_;
};

}  // namespace buoy::text
