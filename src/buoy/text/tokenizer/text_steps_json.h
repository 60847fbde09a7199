#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/steps/text_step.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

// The field "normalizer" of a tokenizer.json.
TextSteps parse_normalizer(const JsonObject& file);

struct PreTokenizer {
  TextSteps steps;
  Alphabet alphabet = Alphabet::kCharacters;  // bytes when the last member is ByteLevel, which spells them
};

// The field "pre_tokenizer".
PreTokenizer parse_pre_tokenizer(const JsonObject& file);

}  // namespace buoy::text
