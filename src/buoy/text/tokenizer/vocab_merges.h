#pragma once

#include <filesystem>

#include "buoy/text/tokenizer/tokenizer_definition.h"

namespace buoy::text {

// The older pair of files vocab.json and merges.txt, as Dream ships them: no field says how text is split or
// normalised, that is code in the released tokenizer class. Dream's and Qwen2's normalise the whole text
// (NFC) before they look for added tokens.
TokenizerDefinition read_vocab_merges(const std::filesystem::path& folder);

}  // namespace buoy::text
