#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace buoy::text::jinja {

enum class TokenKind {
  kData,
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kText,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind;
  std::string text;  // of data, names, operators and numbers as written; of a literal what it stands for
  int line;          // from 1
};

// The tokens of a template with the last line end dropped, `trim_blocks` and `lstrip_blocks` on, as HF reads
// chat templates. The text must be well-formed UTF-8. Throws InputError that names file and line.
std::vector<Token> read_tokens(std::string_view text, const std::string& name);

// InputError: "NAME, line LINE: expected ..., found ...".
[[noreturn]] void refuse_at(const std::string& name, int line, const std::string& found);

}  // namespace buoy::text::jinja
