#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "buoy/text/tokenizer/steps/rewritten_text.h"
#include "buoy/text/tokenizer/steps/splitter.h"

namespace buoy::text {

// What a tokenizer's files do to text before it becomes tokens: a list of steps, each on every piece that
// the step before it left. No step sees more than its piece.

struct NormalFormC {};

struct PrependText {
  enum class When { kAlways, kUnlessThere, kUnlessThereAtTextBegin };

  std::string text;
  When when = When::kAlways;
};

struct ReplaceText {
  std::string from, to;  // not empty
};

using TextStep = std::variant<NormalFormC, PrependText, ReplaceText, Splitter>;
using TextSteps = std::vector<TextStep>;

// The rewritten piece, or nothing when the step leaves it as it is or only cuts. `at_text_begin`: the piece
// is the first one of the whole text. Where text is put before the piece, it shares the first character's
// place in the original. Takes well-formed UTF-8 of less than 1 GiB that is not empty.
std::optional<RewrittenText> rewrite(const TextStep& step, std::string_view piece, bool at_text_begin);

}  // namespace buoy::text
