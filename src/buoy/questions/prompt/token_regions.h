#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buoy/questions/prompt/region.h"
#include "buoy/text/tokenizer/byte_span.h"

namespace buoy::questions {

// One region for every token.
struct TokenRegions {
  std::vector<std::string> names;  // "bos" if there is one, "template", then the text's own in order
  std::vector<std::int32_t> region_of_token;  // [tokens], into names
};

// `tokens` are those of text::Tokenizer::encode on the prompt's text. A token over several regions goes to
// the one that holds most of its bytes, of equals to the first; an empty one to the region it stands in.
// `first_is_bos`: the first token is BOS, in the text or put before it, and a region of its own.
TokenRegions regions_of_tokens(std::span<const text::ByteSpan> tokens, std::span<const RegionSpan> regions,
                               bool first_is_bos);

// 1 for every token most of whose bytes, of equals the first, lie in none of the spans; [tokens].
std::vector<std::uint8_t> tokens_outside(std::span<const text::ByteSpan> tokens,
                                         std::span<const RegionSpan> spans);

// Adds `slots` generated tokens behind the prompt, as the region "answer".
void add_answer_slots(TokenRegions& regions, std::size_t slots);

// The tokens that share at least one byte with one of the spans, ascending: the tokens of the evidence.
std::vector<std::int32_t> tokens_touching(std::span<const text::ByteSpan> tokens,
                                          std::span<const RegionSpan> spans);

}  // namespace buoy::questions
