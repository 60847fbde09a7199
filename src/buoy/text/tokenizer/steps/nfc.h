#pragma once

#include <optional>
#include <string_view>

#include "buoy/text/tokenizer/steps/rewritten_text.h"

namespace buoy::text {

// The text in Unicode's normal form C, or nothing when it is in it. The text must be well-formed UTF-8 of
// less than 4 GiB.
std::optional<RewrittenText> to_nfc(std::string_view text);

}  // namespace buoy::text
