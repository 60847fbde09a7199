#include "buoy/text/tokenizer/tokenizer_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/post_processor.h"

namespace buoy::text {
namespace {

const Json& required(const JsonObject& object, const std::string& key, const std::string& expected) {
  const Json* value = object.find(key);
  if (value == nullptr) object.fail(key, expected);
  return *value;
}

JsonObject required_object(const JsonObject& object, const std::string& key) {
  return JsonObject(required(object, key, "an object"), fmt::format("{}: {}", object.name(), key));
}

void expect_fields(const Json& json, const std::string& where,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw_input_error({fmt::format("{}: {}", where, key), "a field Buoy knows", describe_json(value)});
    }
  }
}

void expect_type(const JsonObject& object, const std::string& type) {
  if (object.required_text("type") != type) object.fail("type", fmt::format("\"{}\"", type));
}

void expect_flag(const JsonObject& object, const std::string& key, bool expected) {
  if (object.boolean(key) != expected) object.fail(key, expected ? "true" : "false");
}

void expect_absent_or_empty(const JsonObject& object, const std::string& key) {
  if (!object.text(key).value_or("").empty()) object.fail(key, "null or empty text");
}

Normalization parse_normalizer(const JsonObject& file) {
  const auto normalizer = file.object("normalizer");
  if (!normalizer) return Normalization::kNone;
  const std::string type = normalizer->required_text("type");
  if (type == "NFC") return Normalization::kNfc;
  if (type != "Sequence") normalizer->fail("type", "\"NFC\" or \"Sequence\"");
  const Json& members = required(*normalizer, "normalizers", "a list");
  if (!members.is_array() || members.size() != 1) normalizer->fail("normalizers", "a list of one, NFC");
  const JsonObject only(members[0], normalizer->name() + ": normalizers[0]");
  expect_type(only, "NFC");
  return Normalization::kNfc;
}

// A Split by the file's pattern, then ByteLevel, which only spells bytes.
PreTokenizer parse_pre_tokenizer(const JsonObject& file) {
  const JsonObject sequence = required_object(file, "pre_tokenizer");
  expect_type(sequence, "Sequence");
  const Json& members = required(sequence, "pretokenizers", "a list");
  if (!members.is_array() || members.size() != 2)
    sequence.fail("pretokenizers", "a list of two: Split, ByteLevel");

  const JsonObject byte_level(members[1], sequence.name() + ": pretokenizers[1]");
  expect_type(byte_level, "ByteLevel");
  expect_flag(byte_level, "add_prefix_space", false);
  expect_flag(byte_level, "use_regex", false);

  const JsonObject split(members[0], sequence.name() + ": pretokenizers[0]");
  expect_type(split, "Split");
  if (split.required_text("behavior") != "Isolated") split.fail("behavior", "\"Isolated\"");
  if (split.boolean("invert").value_or(false)) split.fail("invert", "false");
  const JsonObject pattern = required_object(split, "pattern");
  return PreTokenizer(pattern.required_text("Regex"), pattern.name() + ": Regex");
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

}  // namespace

TokenizerDefinition parse_tokenizer_json(std::string_view text, const std::string& file,
                                         std::span<const AddedToken> more) {
  const Json json = parse_json(text, file);
  const JsonObject top(json, file);
  // Truncation and padding are about batches, which Buoy never tokenizes.
  expect_fields(json, file,
                {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                 "post_processor", "decoder", "model"});
  expect_type(required_object(top, "decoder"), "ByteLevel");
  const JsonObject model = required_object(top, "model");
  check_model(model, *top.find("model"));

  std::vector<AddedToken> added_tokens;
  if (const Json* list = top.find("added_tokens"))
    added_tokens = parse_added_tokens(*list, file + ": added_tokens");
  add_missing_tokens(added_tokens, more, file);
  Vocabulary vocabulary =
      parse_vocabulary(required(model, "vocab", "an object"), added_tokens, model.name() + ": vocab");
  check_added_tokens(added_tokens, vocabulary, file);
  MergeTable merges = parse_merges(model, vocabulary, file);
  PostProcessor post = parse_post_processor(top, added_tokens, vocabulary);
  return {file,
          std::move(added_tokens),
          std::move(vocabulary),
          std::move(merges),
          model.boolean("ignore_merges").value_or(false),
          parse_normalizer(top),
          parse_pre_tokenizer(top),
          std::move(post.prefix),
          std::move(post.suffix)};
}

}  // namespace buoy::text
