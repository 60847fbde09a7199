#include "buoy/text/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/utf8.h"
#include "buoy/text/tokenizer/added_token.h"
#include "buoy/text/tokenizer/bpe.h"
#include "buoy/text/tokenizer/literal_matcher.h"
#include "buoy/text/tokenizer/tokenizer_json.h"
#include "buoy/text/tokenizer/vocab_merges.h"

namespace buoy::text {

struct TokenizerParts {
  Bpe bpe;
  Normalization normalization;
  PreTokenizer pre_tokenizer;
  std::vector<std::int32_t> prefix;
  std::vector<std::int32_t> suffix;
  std::unordered_map<std::int32_t, AddedToken> added_by_id;
  std::unordered_map<std::string, std::int32_t> added_by_content;
  LiteralMatcher in_raw_text;
  LiteralMatcher in_normalized_text;
  std::int32_t id_limit = 0;
};

namespace {

std::uint32_t offset(size_t value) {
  return static_cast<std::uint32_t>(value);
}

// An id that no token has, for people to read.
std::string name_of_id(std::int32_t id) {
  return fmt::format("<id {}>", id);
}

// One call of encode: text is cut ever finer, and each stage knows where its text begins in the stage before.
class Run {
 public:
  Run(const TokenizerParts& parts, Encoding& encoding) : parts_(parts), encoding_(encoding) {}

  void take_text(std::string_view text) {
    split(parts_.in_raw_text, text,
          [&](size_t begin, std::string_view gap) { take_unnormalized(begin, gap); });
  }

 private:
  void take_unnormalized(size_t begin, std::string_view text) {
    original_begin_ = offset(begin);
    normalized_ = normalize(text, parts_.normalization);
    split(parts_.in_normalized_text, normalized_ ? std::string_view(normalized_->text) : text,
          [&](size_t gap_begin, std::string_view gap) { take_plain(gap_begin, gap); });
    normalized_.reset();
    original_begin_ = 0;
  }

  void take_plain(size_t begin, std::string_view text) {
    size_t piece_begin = 0;
    for (const std::uint32_t piece_end : parts_.pre_tokenizer.piece_ends(text)) {
      tokens_.clear();
      parts_.bpe.encode(text.substr(piece_begin, piece_end - piece_begin), tokens_);
      std::uint32_t at = offset(begin + piece_begin);
      for (const BpeToken& token : tokens_) {
        emit(token.id, {at, at + token.length});
        at += token.length;
      }
      piece_begin = piece_end;
    }
  }

  template <typename TakeGap>
  void split(const LiteralMatcher& matcher, std::string_view text, const TakeGap& take_gap) {
    size_t done = 0;
    const auto gap_until = [&](size_t end) {
      if (end > done) take_gap(done, text.substr(done, end - done));
    };
    for (const LiteralMatcher::Match& match : matcher.find_all(text)) {
      gap_until(match.span.begin);
      emit(match.id, match.span);
      done = match.span.end;
    }
    gap_until(text.size());
  }

  void emit(std::int32_t id, ByteSpan span) {
    if (normalized_) span = normalized_->alignment.original(span);
    encoding_.ids.push_back(id);
    encoding_.spans.push_back({original_begin_ + span.begin, original_begin_ + span.end});
  }

  const TokenizerParts& parts_;
  Encoding& encoding_;
  std::uint32_t original_begin_ = 0;  // of the stretch being normalised
  std::optional<NormalizedText> normalized_;
  std::vector<BpeToken> tokens_;
};

}  // namespace

Tokenizer::Tokenizer(TokenizerDefinition definition) {
  auto parts = std::make_shared<TokenizerParts>(TokenizerParts{
      Bpe(std::move(definition.vocabulary), std::move(definition.merges), definition.ignore_merges),
      definition.normalization,
      std::move(definition.pre_tokenizer),
      std::move(definition.prefix),
      std::move(definition.suffix),
      {},
      {},
      {},
      {},
      0});
  parts->id_limit = parts->bpe.vocabulary().size();
  for (const AddedToken& token : definition.added_tokens) {
    const auto normalized =
        token.normalized ? normalize(token.content, definition.normalization) : std::nullopt;
    auto& matcher = token.normalized ? parts->in_normalized_text : parts->in_raw_text;
    if (!matcher.add(normalized ? normalized->text : token.content, token.id)) {
      throw_input_error({fmt::format("{}: added token \"{}\"", definition.file, token.content),
                         "a literal no other token has", "another with the same normal form"});
    }
    parts->added_by_content.emplace(token.content, token.id);
    parts->added_by_id.emplace(token.id, token);
    parts->id_limit = std::max(parts->id_limit, token.id + 1);
  }
  parts_ = std::move(parts);
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const auto tokenizer_json = folder / "tokenizer.json";
  if (path_exists(tokenizer_json)) {
    return Tokenizer(parse_tokenizer_json(read_file(tokenizer_json), tokenizer_json.string(),
                                          read_config_added_tokens(folder)));
  }
  if (!path_exists(folder / "vocab.json") || !path_exists(folder / "merges.txt")) {
    throw_input_error({folder.string(), "tokenizer.json, or vocab.json and merges.txt", "neither"});
  }
  return Tokenizer(read_vocab_merges(folder));
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer_json, const std::string& name) {
  return Tokenizer(parse_tokenizer_json(tokenizer_json, name));
}

Encoding Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  if (text.size() >
      std::numeric_limits<std::uint32_t>::max() / 4) {  // NFC may make text longer, up to threefold
    throw_input_error({"text", "less than 1 GiB", fmt::format("{} bytes", text.size())});
  }
  if (const size_t bad = first_invalid_utf8(text); bad < text.size()) {
    throw_input_error(
        {"text", "well-formed UTF-8",
         fmt::format("byte 0x{:02X} at offset {}", static_cast<unsigned char>(text[bad]), bad)});
  }
  Encoding encoding;
  const auto put_around = [&](const std::vector<std::int32_t>& ids, std::uint32_t at) {
    if (!add_special_tokens) return;
    encoding.ids.insert(encoding.ids.end(), ids.begin(), ids.end());
    encoding.spans.insert(encoding.spans.end(), ids.size(), {at, at});
  };
  put_around(parts_->prefix, 0);
  Run(*parts_, encoding).take_text(text);
  put_around(parts_->suffix, offset(text.size()));
  return encoding;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    if (!has_token(id)) {
      bytes += name_of_id(id);
      continue;
    }
    if (!skip_special_tokens || !is_special(id)) bytes += token_bytes(id);
  }
  return replace_invalid_utf8(bytes);
}

bool Tokenizer::has_token(std::int32_t id) const {
  return parts_->added_by_id.contains(id) || parts_->bpe.vocabulary().has(id);
}

std::int64_t Tokenizer::count_without_token(std::span<const std::int32_t> ids) const {
  return std::count_if(ids.begin(), ids.end(), [&](std::int32_t id) { return !has_token(id); });
}

std::string_view Tokenizer::token_bytes(std::int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  if (added != parts_->added_by_id.end()) return added->second.content;
  return parts_->bpe.vocabulary().has(id) ? parts_->bpe.vocabulary().bytes(id) : std::string_view();
}

std::string Tokenizer::token_text(std::int32_t id) const {
  return has_token(id) ? replace_invalid_utf8(token_bytes(id)) : name_of_id(id);
}

std::optional<std::int32_t> Tokenizer::token_id(std::string_view token) const {
  const auto added = parts_->added_by_content.find(std::string(token));
  if (added != parts_->added_by_content.end()) return added->second;
  if (first_invalid_utf8(token) < token.size()) return std::nullopt;
  const std::int32_t id = parts_->bpe.vocabulary().find_spelling(token);
  return id < 0 ? std::nullopt : std::optional(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  return added != parts_->added_by_id.end() && added->second.special;
}

std::int32_t Tokenizer::id_limit() const {
  return parts_->id_limit;
}

}  // namespace buoy::text
