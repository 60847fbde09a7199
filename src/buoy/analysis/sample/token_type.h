#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"

namespace buoy::analysis {

// What a token is, the first that holds in this order: still masked; padding, at or behind the end token that
// ends the answer; special token; text of the
// template, also inside a document (in traces of before: in the region "template"); white space only;
// punctuation (white space around it allowed); digits; anything else.
enum class TokenType : std::uint8_t {
  kMask,
  kPadding,
  kSpecial,
  kTemplate,
  kWhiteSpace,  // new lines and blanks
  kPunctuation,
  kDigit,
  kContent,
  kUnknown,  // the trace has no texts of tokens
};

inline constexpr std::array kTokenTypes = {
    TokenType::kMask,     TokenType::kPadding,    TokenType::kSpecial,
    TokenType::kTemplate, TokenType::kWhiteSpace, TokenType::kPunctuation,
    TokenType::kDigit,    TokenType::kContent,    TokenType::kUnknown,
};

std::string_view name_of(TokenType type);  // "white_space"
// Special, template, white space and punctuation: the structure of a text. Padding is none of it.
bool is_structural(TokenType type);
// Content and digits.
bool is_content(TokenType type);

// By its text alone: never a mask, padding, template or unknown. A text is special when it is spelt as one:
// <|...|>.
TokenType type_of_text(std::string_view text);

// What is known of a row's tokens.
struct RowTexts {
  std::span<const std::string> texts;     // [tokens], empty when there are none
  std::span<const std::uint8_t> special;  // [tokens], empty when it is not known
};

// The type of a token at a forward: whether it was masked there, or behind the answer's end.
TokenType type_at_forward(TokenType type, bool masked, bool behind_end);

// Of one position of a row of the sample, masks and padding aside.
TokenType token_type(const SampleFacts& sample, const RowTexts& row, size_t position);
// Of every position; [tokens].
std::vector<TokenType> token_types(const SampleFacts& sample, const RowTexts& row);

}  // namespace buoy::analysis
