#pragma once

#include <span>
#include <string>
#include <string_view>

#include "buoy/text/tokenizer/tokenizer_definition.h"

namespace buoy::text {

// Parses the text of a tokenizer.json that describes byte pair encoding over bytes or characters. InputError
// naming `file` and the field for anything that is malformed or that Buoy does not do. `more` are added
// tokens from other files.
TokenizerDefinition parse_tokenizer_json(std::string_view text, const std::string& file,
                                         std::span<const AddedToken> more = {});

}  // namespace buoy::text
