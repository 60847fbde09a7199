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

// Byte pair encoding of one piece at a time: start from single bytes, join the adjacent pair of lowest
// rank (leftmost among equals) until none is left.
class Bpe {
 public:
  // ignore_merges: a piece that is a token as a whole is that token, whatever the merges say.
  Bpe(Vocabulary vocabulary, MergeTable merges, bool ignore_merges);

  const Vocabulary& vocabulary() const { return vocabulary_; }

  // Appends the tokens of the piece to `tokens`. O(n log n) in the length of the piece.
  void encode(std::string_view piece, std::vector<BpeToken>& tokens) const;

 private:
  void merge(std::string_view piece, std::vector<BpeToken>& tokens) const;
  void merge_short(std::string_view piece, std::vector<BpeToken>& tokens) const;
  void merge_long(std::string_view piece, std::vector<BpeToken>& tokens) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  // Tokens that stand for their bytes whenever those are a whole piece. [ids]
  std::vector<bool> taken_whole_;
};

}  // namespace buoy::text
