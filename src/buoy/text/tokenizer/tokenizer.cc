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

// An added token, and how it is spelled where tokens are decoded: as it stands in normalised text when it is
// looked for there.
struct SpelledToken {
  AddedToken token;
  std::string spelling;
};

struct TokenizerParts {
  std::string file;  // named in errors
  Bpe bpe;
  TextSteps normalizer;
  TextSteps pre_tokenizer;
  TokenDecoder decoder;
  std::vector<std::string> decoded;  // [ids], of a vocabulary over characters: the bytes of every token
  std::vector<std::int32_t> prefix;
  std::vector<std::int32_t> suffix;
  std::unordered_map<std::int32_t, SpelledToken> added_by_id;
  std::unordered_map<std::string, std::int32_t> added_by_content;
  LiteralMatcher in_raw_text;
  LiteralMatcher in_normalized_text;
  std::int32_t id_limit = 0;
};

namespace {

// Normal form C may make text three times as long, and so may a longer character for every space.
constexpr size_t kMostGrowth = 16;
constexpr size_t kSpareGrowth = 4096;

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
    text_size_ = text.size();
    split(parts_.in_raw_text, text,
          [&](size_t begin, std::string_view gap) { take_unnormalized(begin, gap); });
  }

 private:
  // Where a piece comes from: its place in what it was cut from, and that before it was rewritten.
  struct Origin {
    std::uint32_t begin;
    const Alignment* alignment;  // none: the piece was only cut
  };

  void take_unnormalized(size_t begin, std::string_view text) {
    from(begin, nullptr, [&] {
      take_steps(parts_.normalizer, 0, text, [&](std::string_view normalized) {
        split(parts_.in_normalized_text, normalized, [&](size_t gap_begin, std::string_view gap) {
          from(gap_begin, nullptr, [&] {
            take_steps(parts_.pre_tokenizer, 0, gap, [&](std::string_view piece) { take_piece(piece); });
          });
        });
      });
    });
  }

  // The steps from the one at `next`, on every piece.
  template <typename Take>
  void take_steps(const TextSteps& steps, size_t next, std::string_view text, const Take& take) {
    if (next == steps.size()) return take(text);
    if (const auto* splitter = std::get_if<Splitter>(&steps[next])) {
      for (const ByteSpan span : splitter->pieces(text)) {
        from(span.begin, nullptr,
             [&] { take_steps(steps, next + 1, text.substr(span.begin, span.end - span.begin), take); });
      }
      return;
    }
    const auto rewritten = rewrite(steps[next], text, original({0, 1}).begin == 0);
    if (!rewritten) return take_steps(steps, next + 1, text, take);
    check_growth(rewritten->text.size());
    from(0, &rewritten->alignment, [&] { take_steps(steps, next + 1, rewritten->text, take); });
  }

  void check_growth(size_t size) const {
    const size_t most =
        std::min<size_t>(kMostGrowth * text_size_ + kSpareGrowth, std::numeric_limits<std::uint32_t>::max());
    if (size <= most) return;
    throw_input_error({parts_.file,
                       fmt::format("rules that make {} bytes of text {} at most", text_size_, most),
                       fmt::format("{} bytes", size)});
  }

  void take_piece(std::string_view piece) {
    tokens_.clear();
    parts_.bpe.encode(piece, tokens_);
    std::uint32_t at = 0;
    for (const BpeToken& token : tokens_) {
      emit(token.id, {at, at + token.length});
      at += token.length;
    }
  }

  template <typename Take>
  void from(size_t begin, const Alignment* alignment, const Take& take) {
    origins_.push_back({offset(begin), alignment});
    take();
    origins_.pop_back();
  }

  // A place of the piece in hand, in the text handed to encode.
  ByteSpan original(ByteSpan span) const {
    for (auto origin = origins_.rbegin(); origin != origins_.rend(); ++origin) {
      if (origin->alignment != nullptr) span = origin->alignment->original(span);
      span = {origin->begin + span.begin, origin->begin + span.end};
    }
    return span;
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
    encoding_.ids.push_back(id);
    encoding_.spans.push_back(original(span));
  }

  const TokenizerParts& parts_;
  Encoding& encoding_;
  size_t text_size_ = 0;
  std::vector<Origin> origins_;  // of the piece in hand, from the outermost
  std::vector<BpeToken> tokens_;
};

// An added token as it is looked for: with the normaliser's changes when the token is said to have them.
std::string searched(const AddedToken& token, const TextSteps& normalizer) {
  std::string text = token.content;
  if (!token.normalized) return text;
  for (const TextStep& step : normalizer) {
    if (auto rewritten = rewrite(step, text, true)) text = std::move(rewritten->text);
  }
  return text;
}

}  // namespace

Tokenizer::Tokenizer(TokenizerDefinition definition) {
  auto parts = std::make_shared<TokenizerParts>(
      TokenizerParts{definition.file,
                     Bpe(std::move(definition.vocabulary), std::move(definition.merges), definition.rules),
                     std::move(definition.normalizer),
                     std::move(definition.pre_tokenizer),
                     std::move(definition.decoder),
                     {},
                     std::move(definition.prefix),
                     std::move(definition.suffix),
                     {},
                     {},
                     {},
                     {},
                     0});
  const Vocabulary& vocabulary = parts->bpe.vocabulary();
  if (vocabulary.alphabet() == Alphabet::kCharacters) {
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
      parts->decoded.push_back(parts->decoder.bytes_of(vocabulary.bytes(id)));
  }
  parts->id_limit = vocabulary.size();
  for (const AddedToken& token : definition.added_tokens) {
    auto& matcher = token.normalized ? parts->in_normalized_text : parts->in_raw_text;
    const std::string spelling = searched(token, parts->normalizer);
    if (!matcher.add(spelling, token.id)) {
      throw_input_error({fmt::format("{}: added token \"{}\"", definition.file, token.content),
                         "a literal no other token has", "another with the same normal form"});
    }
    parts->added_by_content.emplace(token.content, token.id);
    parts->added_by_id.emplace(token.id, SpelledToken{token, spelling});
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
  const bool over_bytes = parts_->bpe.vocabulary().alphabet() == Alphabet::kBytes;
  std::string bytes;
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    if (skip_special_tokens && is_special(id)) continue;
    if (over_bytes) {
      bytes += has_token(id) ? std::string(spelling(id)) : name_of_id(id);
    } else {
      tokens.push_back(has_token(id) ? std::string(spelling(id)) : name_of_id(id));
    }
  }
  return over_bytes ? replace_invalid_utf8(bytes) : parts_->decoder.decode(std::move(tokens));
}

bool Tokenizer::has_token(std::int32_t id) const {
  return parts_->added_by_id.contains(id) || parts_->bpe.vocabulary().has(id);
}

std::int64_t Tokenizer::count_without_token(std::span<const std::int32_t> ids) const {
  return std::count_if(ids.begin(), ids.end(), [&](std::int32_t id) { return !has_token(id); });
}

std::string_view Tokenizer::spelling(std::int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  if (added != parts_->added_by_id.end()) return added->second.spelling;
  return parts_->bpe.vocabulary().has(id) ? parts_->bpe.vocabulary().bytes(id) : std::string_view();
}

std::string_view Tokenizer::token_bytes(std::int32_t id) const {
  const auto added = parts_->added_by_id.find(id);
  if (added != parts_->added_by_id.end()) return added->second.token.content;
  if (!has_token(id)) return {};
  return parts_->decoded.empty() ? spelling(id) : std::string_view(parts_->decoded[static_cast<size_t>(id)]);
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
  return added != parts_->added_by_id.end() && added->second.token.special;
}

std::string_view Tokenizer::kind() const {
  return parts_->bpe.vocabulary().alphabet() == Alphabet::kBytes ? "byte pair encoding over bytes"
                                                                 : "byte pair encoding over characters";
}

std::int32_t Tokenizer::id_limit() const {
  return parts_->id_limit;
}

}  // namespace buoy::text
