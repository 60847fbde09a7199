#include "buoy/analysis/sample/token_type.h"

#include <algorithm>
#include <cctype>

#include "buoy/base/error.h"

namespace buoy::analysis {
namespace {

struct CodeRange {
  char32_t first, last;
};

constexpr std::array kBlanks = {CodeRange{0x09, 0x0D},     CodeRange{0x20, 0x20},
                                CodeRange{0x85, 0x85},     CodeRange{0xA0, 0xA0},
                                CodeRange{0x2000, 0x200B}, CodeRange{0x2028, 0x2029},
                                CodeRange{0x202F, 0x202F}, CodeRange{0x3000, 0x3000}};
// ASCII signs, Latin-1 punctuation, general punctuation, CJK and full-width forms.
constexpr std::array kSigns = {
    CodeRange{0x21, 0x2F},     CodeRange{0x3A, 0x40},     CodeRange{0x5B, 0x60},
    CodeRange{0x7B, 0x7E},     CodeRange{0xA1, 0xA1},     CodeRange{0xA7, 0xA7},
    CodeRange{0xAB, 0xAB},     CodeRange{0xB6, 0xB7},     CodeRange{0xBB, 0xBB},
    CodeRange{0xBF, 0xBF},     CodeRange{0x2010, 0x2027}, CodeRange{0x2030, 0x205E},
    CodeRange{0x3001, 0x3003}, CodeRange{0x3008, 0x3011}, CodeRange{0x3014, 0x301F},
    CodeRange{0xFF01, 0xFF0F}, CodeRange{0xFF1A, 0xFF20}, CodeRange{0xFF3B, 0xFF40},
    CodeRange{0xFF5B, 0xFF65}};

template <size_t N>
bool among(const std::array<CodeRange, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const CodeRange& r) { return r.first <= code && code <= r.last; });
}

// The trace's texts are well-formed UTF-8.
char32_t next_code(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length && i < text.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

bool spelt_as_special(std::string_view text) {
  constexpr std::array<std::string_view, 8> kSpellings = {"<s>",   "</s>",  "<bos>",  "<eos>",
                                                          "<pad>", "<unk>", "[MASK]", "[gMASK]"};
  return (text.starts_with("<|") && text.ends_with("|>") && text.size() > 4) ||
         std::find(kSpellings.begin(), kSpellings.end(), text) != kSpellings.end();
}

}  // namespace

std::string_view name_of(TokenType type) {
  switch (type) {
    case TokenType::kMask:
      return "mask";
    case TokenType::kPadding:
      return "padding";
    case TokenType::kSpecial:
      return "special";
    case TokenType::kTemplate:
      return "template";
    case TokenType::kWhiteSpace:
      return "white_space";
    case TokenType::kPunctuation:
      return "punctuation";
    case TokenType::kDigit:
      return "digit";
    case TokenType::kContent:
      return "content";
    case TokenType::kUnknown:
      return "unknown";
  }
  throw InternalError("a token type without a name");
}

bool is_structural(TokenType type) {
  return type == TokenType::kSpecial || type == TokenType::kTemplate || type == TokenType::kWhiteSpace ||
         type == TokenType::kPunctuation;
}

bool is_content(TokenType type) {
  return type == TokenType::kContent || type == TokenType::kDigit;
}

TokenType type_of_text(std::string_view text) {
  if (spelt_as_special(text)) return TokenType::kSpecial;
  bool signs = false, digits = false, others = false;
  while (!text.empty()) {
    const char32_t code = next_code(text);
    if (among(kBlanks, code)) continue;
    signs |= among(kSigns, code);
    digits |= code >= '0' && code <= '9';
    others |= !among(kSigns, code) && !(code >= '0' && code <= '9');
  }
  if (others) return TokenType::kContent;
  if (digits) return TokenType::kDigit;
  return signs ? TokenType::kPunctuation : TokenType::kWhiteSpace;
}

TokenType type_at_forward(TokenType type, bool masked, bool behind_end) {
  if (masked) return TokenType::kMask;
  return behind_end && type != TokenType::kUnknown ? TokenType::kPadding : type;
}

TokenType token_type(const SampleFacts& sample, const RowTexts& row, size_t position) {
  if (!row.special.empty() && row.special[position] != 0) return TokenType::kSpecial;
  const auto type = position < row.texts.size() ? type_of_text(row.texts[position]) : TokenType::kUnknown;
  if (type == TokenType::kSpecial) return type;
  if (!sample.template_text.empty()) return sample.template_text[position] != 0 ? TokenType::kTemplate : type;
  if (sample.region_of_token.empty()) return type;
  const auto region = static_cast<size_t>(sample.region_of_token[position]);
  return region < sample.region_names.size() && sample.region_names[region] == "template"
             ? TokenType::kTemplate
             : type;
}

std::vector<TokenType> token_types(const SampleFacts& sample, const RowTexts& row) {
  std::vector<TokenType> types;
  for (std::int64_t j = 0; j < sample.tokens; ++j)
    types.push_back(token_type(sample, row, static_cast<size_t>(j)));
  return types;
}

}  // namespace buoy::analysis
