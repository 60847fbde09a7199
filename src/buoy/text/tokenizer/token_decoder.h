#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "buoy/base/file/json_file.h"

namespace buoy::text {

// How the spellings of tokens over characters become text again: steps on the list of spellings, in order.
class TokenDecoder {
 public:
  struct Replace {
    std::string from, to;  // in every token
  };
  struct ByteFallback {};  // tokens "<0x0A>" in a row become their bytes; if not UTF-8, U+FFFD for each
  struct Fuse {};          // all tokens become one
  struct Strip {
    std::string character;  // left out at the ends of every token, so many times at most
    std::int64_t start, stop;
  };
  struct Metaspace {
    std::string replacement;  // a space; nothing in the first token if it was put before the text
    bool prepended;
  };
  using Step = std::variant<Replace, ByteFallback, Fuse, Strip, Metaspace>;

  TokenDecoder() = default;
  explicit TokenDecoder(std::vector<Step> steps) : steps_(std::move(steps)) {}

  std::string decode(std::vector<std::string> tokens) const;
  // What one token stands for in the middle of a text, a byte that is no character by itself included.
  std::string bytes_of(std::string_view spelling) const;

 private:
  std::vector<Step> steps_;
};

// The field "decoder" of a tokenizer.json whose vocabulary is over characters.
TokenDecoder parse_token_decoder(const JsonObject& decoder);

}  // namespace buoy::text
