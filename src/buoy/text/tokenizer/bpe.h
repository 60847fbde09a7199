#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/text/tokenizer/merge_table.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

struct BpeToken {
  std::int32_t id;
  std::uint32_t length;  // bytes of the piece it covers
};

// What a model says beside vocabulary and merges.
struct BpeRules {
  bool ignore_merges = false;  // a piece that is a token as a whole is that token, whatever the merges say
  // For characters that the vocabulary does not have:
  bool byte_fallback = false;  // they become the tokens of their bytes, else the unknown token
  std::int32_t unknown = -1;
  bool fuse_unknown = false;  // several in a row become one token
};

// Byte pair encoding of one piece at a time: start from single bytes or characters, join the adjacent pair of
// lowest rank (leftmost among equals) until none is left.
class Bpe {
 public:
  // Over characters every one must come out: by byte_fallback with a token for each byte, or as unknown.
  Bpe(Vocabulary vocabulary, MergeTable merges, const BpeRules& rules);

  const Vocabulary& vocabulary() const { return vocabulary_; }

  // Appends the tokens of the piece to `tokens`. O(n log n) in the length of the piece.
  void encode(std::string_view piece, std::vector<BpeToken>& tokens) const;

 private:
  template <typename Add>
  void start(std::string_view piece, const Add& add) const;
  void merge(std::string_view piece, std::vector<BpeToken>& tokens) const;
  void merge_short(std::string_view piece, std::vector<BpeToken>& tokens) const;
  void merge_long(std::string_view piece, std::vector<BpeToken>& tokens) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  BpeRules rules_;
  // Tokens that stand for their bytes whenever those are a whole piece. [ids]
  std::vector<bool> taken_whole_;
};

}  // namespace buoy::text
