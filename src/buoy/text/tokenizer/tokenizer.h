#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/text/tokenizer/byte_span.h"

namespace buoy::text {

struct TokenizerDefinition;
struct TokenizerParts;

struct Encoding {
  std::vector<std::int32_t> ids;
  // Where each token comes from in the text handed to encode. Begins and ends never decrease and all
  // of the text is covered, but for what a file's Split removes. Tokens that the text does not hold (BOS)
  // have empty spans. Where a rule changed a character and several tokens share it, each spans all of it;
  // what a rule puts before a text shares its first character.
  std::vector<ByteSpan> spans;
};

// Byte pair encoding as the released files define it: added tokens, normalisation, split, merges.
// Immutable, cheap to copy, safe to share between threads.
class Tokenizer {
 public:
  // From a checkpoint folder: tokenizer.json, or vocab.json and merges.txt; added tokens also from
  // tokenizer_config.json.
  static Tokenizer load(const std::filesystem::path& folder);
  // From the text of a tokenizer.json; `name` is the file named in errors.
  static Tokenizer from_json(std::string_view tokenizer_json, const std::string& name);

  // InputError when the text is not well-formed UTF-8. add_special_tokens puts what the file's
  // post-processor says around the text; a rendered chat must be encoded without.
  Encoding encode(std::string_view text, bool add_special_tokens) const;

  // The text of a whole sequence, as the file's decoder puts it together (over characters it may leave out a
  // space at the begin); bytes that are not UTF-8 become U+FFFD. An id without a token, such as one
  // of the rows by which embeddings are padded beyond the vocabulary, shows as "<id 44335>".
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const;

  // Whether the tokenizer has a token of this id.
  bool has_token(std::int32_t id) const;
  // How many of the ids have none.
  std::int64_t count_without_token(std::span<const std::int32_t> ids) const;
  // The bytes one token stands for; none for ids without a token.
  std::string_view token_bytes(std::int32_t id) const;
  // One token for people to read: its text, with U+FFFD for parts of characters; "<id 7>" without a token.
  std::string token_text(std::int32_t id) const;
  // The id of an added token by its literal, else of a base token by its spelling in the file.
  std::optional<std::int32_t> token_id(std::string_view token) const;
  bool is_special(std::int32_t id) const;
  // What kind of tokenizer it is, for people to read.
  std::string_view kind() const;
  // Highest id + 1. The embedding must have at least as many rows.
  std::int32_t id_limit() const;

 private:
  explicit Tokenizer(TokenizerDefinition definition);

  std::string_view spelling(std::int32_t id) const;  // as in the file; none for ids without a token

  std::shared_ptr<const TokenizerParts> parts_;
};

}  // namespace buoy::text
