#include "buoy/text/tokenizer/steps/alignment.h"

#include <algorithm>

namespace buoy::text {

ByteSpan Alignment::original(ByteSpan normalized) const {
  if (changes_.empty()) return normalized;
  const auto after = [](std::uint32_t offset, const Change& change) {
    return offset < change.normalized.begin;
  };
  const auto from = [](const Change& change, std::uint32_t offset) {
    return change.normalized.begin < offset;
  };

  ByteSpan span = normalized;
  const auto past_begin = std::upper_bound(changes_.begin(), changes_.end(), normalized.begin, after);
  if (past_begin != changes_.begin()) {
    const Change& change = *(past_begin - 1);
    span.begin = normalized.begin < change.normalized.end
                     ? change.original.begin
                     : change.original.end + (normalized.begin - change.normalized.end);
  }
  const auto past_end = std::lower_bound(changes_.begin(), changes_.end(), normalized.end, from);
  if (past_end != changes_.begin()) {
    const Change& change = *(past_end - 1);
    span.end = normalized.end <= change.normalized.end
                   ? change.original.end
                   : change.original.end + (normalized.end - change.normalized.end);
  }
  return span;
}

}  // namespace buoy::text
