#pragma once

#include <string>

#include "buoy/text/tokenizer/steps/alignment.h"

namespace buoy::text {

// A text that was changed, and where its bytes come from.
struct RewrittenText {
  std::string text;
  Alignment alignment;
};

}  // namespace buoy::text
