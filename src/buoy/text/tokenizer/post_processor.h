#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/added_token.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

// What add_special_tokens puts before and after a text.
struct PostProcessor {
  std::vector<std::int32_t> prefix;
  std::vector<std::int32_t> suffix;
};

// The field "post_processor" of a tokenizer.json: ByteLevel (adds nothing), TemplateProcessing, or a
// Sequence with at most one TemplateProcessing. Only the template for a single text is used.
PostProcessor parse_post_processor(const JsonObject& file, std::span<const AddedToken> added_tokens,
                                   const Vocabulary& vocabulary);

}  // namespace buoy::text
