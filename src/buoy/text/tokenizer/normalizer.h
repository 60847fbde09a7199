#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "buoy/text/tokenizer/alignment.h"

namespace buoy::text {

enum class Normalization { kNone, kNfc };

struct NormalizedText {
  std::string text;
  Alignment alignment;
};

// The normalised text, or nothing when the text is normalised as it stands. The text must be well-formed
// UTF-8 of less than 4 GiB.
std::optional<NormalizedText> normalize(std::string_view text, Normalization normalization);

}  // namespace buoy::text
