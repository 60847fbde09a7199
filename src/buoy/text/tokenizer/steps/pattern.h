#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/text/tokenizer/byte_span.h"

namespace buoy::text {

// What a file looks for in text: a regular expression or a literal. Cheap to copy.
class Pattern {
 public:
  // `where` names file and field in errors.
  static Pattern expression(std::string_view pattern, const std::string& where);
  static Pattern literal(std::string text);  // not empty

  // All matches from left to right; they do not overlap. A match may be empty, but not right behind another
  // one. The text must be well-formed UTF-8 of less than 4 GiB.
  std::vector<ByteSpan> find_all(std::string_view text) const;

 private:
  struct Compiled;

  std::vector<ByteSpan> find_literal(std::string_view text) const;

  std::string literal_;                       // looked for when there is no expression
  std::shared_ptr<const Compiled> compiled_;  // the expression
};

}  // namespace buoy::text
