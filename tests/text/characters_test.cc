#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/token_decoder.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "buoy/text/tokenizer/tokenizer_json.h"
#include "text/support.h"

// Tokenizers over characters: what of their files is refused, and what decoding does. That ids are right:
// reference_test.cc.

namespace buoy::text {
namespace {

using Ids = std::vector<std::int32_t>;

struct Broken {
  const char* name;
  std::function<void(Json&)> change;
  const char* names;  // what the message must hold, besides the file
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

class BrokenCharacters : public testing::TestWithParam<Broken> {};

TEST_P(BrokenCharacters, IsRefusedWithTheFieldNamed) {
  Json json = tiny_characters_json();
  GetParam().change(json);
  const std::string message =
      error_message<InputError>([&] { parse_tokenizer_json(json.dump(), "some/tokenizer.json"); });
  EXPECT_TRUE(message.starts_with("some/tokenizer.json: ")) << message;
  EXPECT_NE(message.find(GetParam().names), std::string::npos) << message;
  EXPECT_NE(message.find("expected"), std::string::npos) << message;
}

Json metaspace(const char* replacement) {
  return {{"type", "Metaspace"}, {"replacement", replacement}};
}

const Broken kBroken[] = {
    {"normalizer_member", [](Json& j) { j["normalizer"]["normalizers"][0]["type"] = "Lowercase"; },
     "normalizer: normalizers[0]: type"},
    {"normalizer_no_list", [](Json& j) { j["normalizer"].erase("normalizers"); }, "normalizer: normalizers"},
    {"normalizer_too_many",
     [](Json& j) { j["normalizer"]["normalizers"] = Json::array_t(17, j["normalizer"]["normalizers"][0]); },
     "normalizer: normalizers"},
    {"prepend_empty", [](Json& j) { j["normalizer"]["normalizers"][0]["prepend"] = ""; }, "prepend"},
    {"prepend_long", [](Json& j) { j["normalizer"]["normalizers"][0]["prepend"] = std::string(1000, 'x'); },
     "prepend"},
    {"replace_regex",
     [](Json& j) {
       j["normalizer"]["normalizers"][1]["pattern"] = {{"Regex", " +"}};
     },
     "pattern: String"},
    {"replace_nothing", [](Json& j) { j["normalizer"]["normalizers"][1]["pattern"]["String"] = ""; },
     "pattern: String"},
    {"replace_by_nothing", [](Json& j) { j["normalizer"]["normalizers"][1]["content"] = ""; }, "content"},
    {"metaspace_two_characters", [](Json& j) { j["pre_tokenizer"] = metaspace("__"); }, "replacement"},
    {"metaspace_no_character", [](Json& j) { j["pre_tokenizer"] = metaspace(""); }, "replacement"},
    {"metaspace_scheme",
     [](Json& j) {
       j["pre_tokenizer"] = metaspace("_");
       j["pre_tokenizer"]["prepend_scheme"] = "sometimes";
     },
     "prepend_scheme"},
    {"metaspace_contradiction",
     [](Json& j) {
       j["pre_tokenizer"] = metaspace("_");
       j["pre_tokenizer"]["prepend_scheme"] = "always";
       j["pre_tokenizer"]["add_prefix_space"] = false;
     },
     "prepend_scheme"},
    {"behind_byte_level",
     [](Json& j) {
       const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
       j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {bytes, metaspace("_")}}};
     },
     "pretokenizers[1]: type"},
    {"sequence_in_sequence",
     [](Json& j) {
       const Json inner = {{"type", "Sequence"}, {"pretokenizers", Json::array()}};
       j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {inner}}};
     },
     "pretokenizers[0]: type"},
    {"no_decoder", [](Json& j) { j["decoder"] = nullptr; }, "decoder"},
    {"decoder_of_bytes",
     [](Json& j) {
       j["decoder"] = {{"type", "ByteLevel"}};
     },
     "pre_tokenizer"},
    {"decoder_member", [](Json& j) { j["decoder"]["decoders"][1]["type"] = "CTC"; },
     "decoder: decoders[1]: type"},
    {"strip_two_characters", [](Json& j) { j["decoder"]["decoders"][3]["content"] = "ab"; }, "content"},
    {"strip_too_often", [](Json& j) { j["decoder"]["decoders"][3]["start"] = 1000000; }, "start"},
    {"strip_negative", [](Json& j) { j["decoder"]["decoders"][3]["stop"] = -1; }, "stop"},
    {"byte_token_missing",
     [](Json& j) {
       Json& v = j["model"]["vocab"];
       v["other"] = v["<0xC3>"];
       v.erase("<0xC3>");
     },
     "<0xC3>"},
    {"no_unknown",
     [](Json& j) {
       j["model"]["byte_fallback"] = false;
       j["model"]["unk_token"] = nullptr;
     },
     "unk_token"},
    {"other_unknown",
     [](Json& j) {
       j["model"]["byte_fallback"] = false;
       j["model"]["unk_token"] = "<nothing>";
     },
     "unk_token"},
    {"byte_fallback_text", [](Json& j) { j["model"]["byte_fallback"] = "yes"; }, "byte_fallback"},
    {"merge_unknown",
     [](Json& j) {
       j["model"]["merges"][0] = {"q", "q"};
     },
     "\"qq\""},
};

INSTANTIATE_TEST_SUITE_P(Characters, BrokenCharacters, testing::ValuesIn(kBroken),
                         [](const auto& item) { return std::string(item.param.name); });

TEST(Characters, TextThatRulesBlowUpIsRefused) {
  Json json = tiny_characters_json();
  const Json step = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aaaaaaaaaaaaaaaa"}};
  json["normalizer"]["normalizers"] = Json::array_t(8, step);
  const Tokenizer tokenizer = Tokenizer::from_json(json.dump(), "bomb");
  const std::string message =
      error_message<InputError>([&] { tokenizer.encode(std::string(1000, 'a'), false); });
  EXPECT_NE(message.find("bomb: expected rules that make 1000 bytes of text"), std::string::npos) << message;
}

TEST(Characters, OlderMetaspaceWithoutPrefixNeverPrepends) {
  Json json = tiny_characters_json();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = metaspace("\u2581");
  json["pre_tokenizer"]["add_prefix_space"] = false;
  const Tokenizer older = Tokenizer::from_json(json.dump(), "older");
  json["pre_tokenizer"].erase("add_prefix_space");
  json["pre_tokenizer"]["prepend_scheme"] = "never";
  const Tokenizer newer = Tokenizer::from_json(json.dump(), "newer");
  for (const char* text : {"the buoy", " the", "the", "<s>the", ""})
    EXPECT_EQ(older.encode(text, false).ids, newer.encode(text, false).ids) << text;
  json["pre_tokenizer"].erase("prepend_scheme");
  EXPECT_NE(Tokenizer::from_json(json.dump(), "always").encode("the", false).ids,
            newer.encode("the", false).ids);
}

TEST(Characters, TokensAreShownAsTheTextTheyStandFor) {
  const Tokenizer tokenizer = tiny_characters();
  const auto the = tokenizer.token_id("\u2581the");
  ASSERT_TRUE(the);
  EXPECT_EQ(tokenizer.token_text(*the), " the");
  EXPECT_EQ(tokenizer.token_bytes(*the), " the");
  const auto line = tokenizer.token_id("<0x0D>");
  ASSERT_TRUE(line);
  EXPECT_EQ(tokenizer.token_bytes(*line), "\r");
  EXPECT_EQ(tokenizer.token_bytes(*tokenizer.token_id("<0xE4>")), "\xE4");
  EXPECT_EQ(tokenizer.token_text(*tokenizer.token_id("<0xE4>")), "\uFFFD");
  EXPECT_EQ(tokenizer.token_text(*tokenizer.token_id("</s>")), "</s>");
  EXPECT_EQ(tokenizer.kind(), "byte pair encoding over characters");
  EXPECT_EQ(tiny_tokenizer().kind(), "byte pair encoding over bytes");
}

TEST(Characters, IdsWithoutATokenAreShownInDecodedText) {
  const Tokenizer tokenizer = tiny_characters();
  const std::int32_t the = *tokenizer.token_id("\u2581the");
  EXPECT_EQ(tokenizer.decode(Ids{the, 5000, the, -1}, true), "the<id 5000> the<id -1>");
  EXPECT_EQ(tokenizer.decode(Ids{}, true), "");
}

TEST(Characters, BosIsPutBeforeTheTextOnlyWhenAsked) {
  const Tokenizer tokenizer = tiny_characters();
  const Encoding encoding = tokenizer.encode("and", true);
  EXPECT_EQ(encoding.ids, (Ids{1, *tokenizer.token_id("\u2581and")}));
  EXPECT_EQ(encoding.spans, (std::vector<ByteSpan>{{0, 0}, {0, 3}}));
  EXPECT_EQ(tokenizer.encode("and", false).ids.size(), 1U);
}

TEST(TokenDecoder, StripsBothEndsOfWhatIsThere) {
  const TokenDecoder decoder({TokenDecoder::Strip{"\u2581", 2, 3}});
  EXPECT_EQ(decoder.decode({"\u2581\u2581\u2581a\u2581\u2581\u2581\u2581"}), "\u2581a\u2581");
  EXPECT_EQ(decoder.decode({"\u2581", "", "b"}), "b");
}

}  // namespace
}  // namespace buoy::text
