#include "buoy/text/tokenizer/tokenizer_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/json_fields.h"
#include "buoy/text/tokenizer/post_processor.h"
#include "buoy/text/tokenizer/text_steps_json.h"

namespace buoy::text {
namespace {

void expect_absent_or_empty(const JsonObject& object, const std::string& key) {
  if (!object.text(key).value_or("").empty()) object.fail(key, "null or empty text");
}

MergeTable parse_merges(const JsonObject& model, const Vocabulary& vocabulary, const std::string& file) {
  const Json& list = required(model, "merges", "a list");
  if (!list.is_array()) model.fail("merges", "a list");
  MergeTable merges(list.size());
  for (const Json& item : list) {
    if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string()) {
      merges.add(vocabulary, item[0].get_ref<const std::string&>(), item[1].get_ref<const std::string&>(),
                 file);
      continue;
    }
    const std::string_view text = item.is_string() ? item.get_ref<const std::string&>() : std::string_view();
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      throw_input_error({fmt::format("{}: merges[{}]", model.name(), merges.size()),
                         "two tokens, as \"a b\" or [\"a\", \"b\"]", describe_json(item)});
    }
    merges.add(vocabulary, text.substr(0, space), text.substr(space + 1), file);
  }
  return merges;
}

void check_model(const JsonObject& model, const Json& json) {
  expect_fields(json, model.name(),
                {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                 "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  expect_type(model, "BPE");
  if (model.number("dropout").value_or(0) != 0) model.fail("dropout", "null or 0");
  expect_absent_or_empty(model, "continuing_subword_prefix");
  expect_absent_or_empty(model, "end_of_word_suffix");
}

// What becomes of characters that the vocabulary does not have. Over bytes there are none.
BpeRules parse_rules(const JsonObject& model, const Vocabulary& vocabulary) {
  BpeRules rules;
  rules.ignore_merges = model.boolean("ignore_merges").value_or(false);
  rules.byte_fallback = model.boolean("byte_fallback").value_or(false);
  rules.fuse_unknown = model.boolean("fuse_unk").value_or(false);
  const auto unknown = model.text("unk_token");
  if (vocabulary.alphabet() == Alphabet::kBytes) return rules;
  for (int byte = 0; rules.byte_fallback && byte < 256; ++byte) {
    const char c = static_cast<char>(byte);  // of ASCII a character by itself, which may have a token
    if (vocabulary.byte_id(static_cast<unsigned char>(byte)) >= 0) continue;
    if (byte < 0x80 && vocabulary.find_spelling({&c, 1}) >= 0) continue;
    throw_input_error({model.name() + ": vocab",
                       "a token for each of the 256 bytes, as byte_fallback is true",
                       fmt::format("no <0x{:02X}>", byte)});
  }
  if (rules.byte_fallback) return rules;
  rules.unknown = unknown ? vocabulary.find_spelling(*unknown) : -1;
  if (rules.unknown < 0)
    model.fail("unk_token",
               "a token of the vocabulary, as byte_fallback is false and text is not cut to bytes");
  return rules;
}

// The decoder must fit what text is cut to.
TokenDecoder parse_decoder(const JsonObject& top, Alphabet alphabet) {
  const JsonObject decoder = required_object(top, "decoder");
  if (alphabet == Alphabet::kCharacters) {
    if (decoder.required_text("type") == "ByteLevel")
      top.fail("pre_tokenizer", "one with ByteLevel at its end, as the decoder is ByteLevel");
    return parse_token_decoder(decoder);
  }
  expect_type(decoder, "ByteLevel");
  return TokenDecoder();
}

}  // namespace

TokenizerDefinition parse_tokenizer_json(std::string_view text, const std::string& file,
                                         std::span<const AddedToken> more) {
  const Json json = parse_json(text, file);
  const JsonObject top(json, file);
  // Truncation and padding are about batches, which Buoy never tokenizes.
  expect_fields(json, file,
                {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                 "post_processor", "decoder", "model"});
  PreTokenizer pre_tokenizer = parse_pre_tokenizer(top);
  TokenDecoder decoder = parse_decoder(top, pre_tokenizer.alphabet);
  const JsonObject model = required_object(top, "model");
  check_model(model, *top.find("model"));

  std::vector<AddedToken> added_tokens;
  if (const Json* list = top.find("added_tokens"))
    added_tokens = parse_added_tokens(*list, file + ": added_tokens");
  add_missing_tokens(added_tokens, more, file);
  Vocabulary vocabulary = parse_vocabulary(required(model, "vocab", "an object"), added_tokens,
                                           model.name() + ": vocab", pre_tokenizer.alphabet);
  check_added_tokens(added_tokens, vocabulary, file);
  MergeTable merges = parse_merges(model, vocabulary, file);
  const BpeRules rules = parse_rules(model, vocabulary);
  PostProcessor post = parse_post_processor(top, added_tokens, vocabulary);
  return {file,
          std::move(added_tokens),
          std::move(vocabulary),
          std::move(merges),
          rules,
          parse_normalizer(top),
          std::move(pre_tokenizer.steps),
          std::move(decoder),
          std::move(post.prefix),
          std::move(post.suffix)};
}

}  // namespace buoy::text
