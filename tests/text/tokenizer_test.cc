#include "buoy/text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/steps/nfc.h"
#include "support/temp_folder.h"
#include "text/support.h"

namespace buoy::text {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kBos = 294, kEnd = 295, kMask = 296, kTurnEnd = 299;

std::vector<std::string> token_texts(const Tokenizer& tokenizer, const Encoding& encoding) {
  std::vector<std::string> texts;
  for (const std::int32_t id : encoding.ids) texts.push_back(tokenizer.token_text(id));
  return texts;
}

TEST(Tokenizer, EncodesWithMergesInOrder) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const Encoding encoding = tokenizer.encode("the buoy and the sea", false);
  EXPECT_EQ(token_texts(tokenizer, encoding),
            (std::vector<std::string>{"t", "he", " ", "buoy", " and", " the", " sea"}));
  EXPECT_EQ(encoding.spans,
            (std::vector<ByteSpan>{{0, 1}, {1, 3}, {3, 4}, {4, 8}, {8, 12}, {12, 16}, {16, 20}}));
}

TEST(Tokenizer, PutsBosBeforeTheTextOnlyWhenAsked) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const Encoding with = tokenizer.encode("a", true);
  EXPECT_EQ(with.ids, (Ids{kBos, 'a'}));
  EXPECT_EQ(with.spans, (std::vector<ByteSpan>{{0, 0}, {0, 1}}));
  EXPECT_EQ(tokenizer.encode("a", false).ids, Ids{'a'});
  EXPECT_EQ(tokenizer.encode("", true).ids, Ids{kBos});
  EXPECT_EQ(tokenizer.encode("", false).ids, Ids{});
}

TEST(Tokenizer, FindsAddedTokensInText) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const Encoding encoding = tokenizer.encode("<|mdm_mask|><|mdm_mask|> <|eot_id|><|eot_id", false);
  EXPECT_EQ(Ids(encoding.ids.begin(), encoding.ids.begin() + 4), (Ids{kMask, kMask, ' ', kTurnEnd}));
  EXPECT_EQ(encoding.spans[1], (ByteSpan{12, 24}));
  EXPECT_EQ(encoding.spans[3], (ByteSpan{25, 35}));
  EXPECT_EQ(tokenizer.decode(encoding.ids, false), "<|mdm_mask|><|mdm_mask|> <|eot_id|><|eot_id");
  EXPECT_EQ(tokenizer.decode(encoding.ids, true), " <|eot_id");
}

TEST(Tokenizer, DecodesBytesOverTheWholeSequence) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const Encoding encoding = tokenizer.encode("\u4E2D", false);
  EXPECT_EQ(encoding.ids, (Ids{0xE4, 0xB8, 0xAD}));
  EXPECT_EQ(tokenizer.decode(encoding.ids, false), "\u4E2D");
  EXPECT_EQ(tokenizer.decode(Ids{0xE4, 'x'}, false), "\uFFFDx");
  EXPECT_EQ(tokenizer.token_text(0xE4), "\uFFFD");
  EXPECT_EQ(tokenizer.token_bytes(0xE4), "\xE4");
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  const Tokenizer tokenizer = tiny_tokenizer();
  EXPECT_EQ(error_message<InputError>([&] { tokenizer.encode("ab\xC3", false); }),
            "text: expected well-formed UTF-8, found byte 0xC3 at offset 2");
  EXPECT_THROW(tokenizer.encode("\xED\xA0\x80", false), InputError);
}

// Embeddings are padded beyond the vocabulary in every released family, and a model may write such an id.
TEST(Tokenizer, ShowsAndCountsIdsWithoutAToken) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const Ids ids = {'a', 300, 'b', 44335, -1, kEnd};
  EXPECT_EQ(tokenizer.decode(ids, true), "a<id 300>b<id 44335><id -1>");
  EXPECT_EQ(tokenizer.count_without_token(ids), 3);
  EXPECT_FALSE(tokenizer.has_token(300));
  EXPECT_TRUE(tokenizer.has_token(299));
  EXPECT_TRUE(tokenizer.has_token('a'));
}

TEST(Tokenizer, TellsAboutTokens) {
  const Tokenizer tokenizer = tiny_tokenizer();
  EXPECT_EQ(tokenizer.id_limit(), 300);
  EXPECT_EQ(tokenizer.token_id("<|mdm_mask|>"), kMask);
  EXPECT_EQ(tokenizer.token_id("\u0120the"), tokenizer.encode(" the", false).ids[0]);
  EXPECT_FALSE(tokenizer.token_id(" the"));
  EXPECT_FALSE(tokenizer.token_id("nonsense"));
  EXPECT_FALSE(tokenizer.token_id("\xFF"));
  EXPECT_TRUE(tokenizer.is_special(kEnd));
  EXPECT_FALSE(tokenizer.is_special('a'));
  EXPECT_FALSE(tokenizer.is_special(-5));
  EXPECT_EQ(tokenizer.token_text(kMask), "<|mdm_mask|>");
  EXPECT_EQ(tokenizer.token_text(301), "<id 301>");
  EXPECT_EQ(tokenizer.token_text(-1), "<id -1>");
}

TEST(Tokenizer, IdsBetweenVocabularyAndAddedTokensMayBeUnused) {
  Json json = tiny_tokenizer_json();
  json["added_tokens"][5]["id"] = 320;
  const Tokenizer tokenizer = Tokenizer::from_json(json.dump(), "gap");
  EXPECT_EQ(tokenizer.id_limit(), 321);
  EXPECT_EQ(tokenizer.token_text(310), "<id 310>");
  EXPECT_EQ(tokenizer.decode(Ids{'a', 310, 'b'}, false), "a<id 310>b");
}

TEST(Tokenizer, RoundTripsAndCoversRandomText) {
  const Tokenizer tokenizer = tiny_tokenizer();
  std::mt19937 random(5);
  for (int i = 0; i < 10000; ++i) {
    std::string text = random_text(random, random() % 40);
    if (i % 4 == 0) text += "<|eot_id|>" + random_text(random, 3) + "<|mdm_mask|>e\u0301";
    const Encoding encoding = tokenizer.encode(text, i % 2 == 0);
    ASSERT_NO_FATAL_FAILURE(expect_spans_cover(encoding, text)) << text;

    const auto normalized = to_nfc(text);
    const Ids ids(encoding.ids.begin() + (i % 2 == 0 ? 1 : 0), encoding.ids.end());
    ASSERT_EQ(tokenizer.decode(ids, false), normalized ? normalized->text : text);
    if (normalized) continue;
    for (size_t t = i % 2 == 0 ? 1 : 0; t < encoding.ids.size(); ++t) {
      const ByteSpan span = encoding.spans[t];
      ASSERT_EQ(tokenizer.token_bytes(encoding.ids[t]), text.substr(span.begin, span.end - span.begin));
    }
  }
}

TEST(Tokenizer, SpansOfNormalisedTextReferToTheOriginal) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const std::string text = "<|eot_id|>cafe\u0301!";
  const Encoding encoding = tokenizer.encode(text, false);
  ASSERT_EQ(encoding.ids.size(), 6U);
  EXPECT_EQ(tokenizer.token_text(encoding.ids[4]), "\u00E9");
  EXPECT_EQ(encoding.spans[4], (ByteSpan{13, 16}));
  EXPECT_EQ(encoding.spans[5], (ByteSpan{16, 17}));
}

TEST(Tokenizer, MatchesNormalizedAddedTokensAfterNormalisation) {
  Json json = tiny_tokenizer_json();
  json["added_tokens"][2]["content"] = "<caf\u00E9>";
  json["added_tokens"][2]["normalized"] = true;
  const Tokenizer tokenizer = Tokenizer::from_json(json.dump(), "normalized");
  const Encoding encoding = tokenizer.encode("x<cafe\u0301>y", false);
  EXPECT_EQ(encoding.ids, (Ids{'x', kMask, 'y'}));
  EXPECT_EQ(encoding.spans[1], (ByteSpan{1, 9}));
  json["added_tokens"][2]["normalized"] = false;
  EXPECT_GT(Tokenizer::from_json(json.dump(), "raw").encode("x<cafe\u0301>y", false).ids.size(), 3U);
}

TEST(Tokenizer, LoadsAFolder) {
  const testing::TempFolder folder;
  EXPECT_THROW(Tokenizer::load(folder.path()), InputError);
  folder.write("tokenizer.json", tiny_tokenizer_text());
  folder.write("tokenizer_config.json",
               R"({"added_tokens_decoder": {"294": {"content": "<|startoftext|>", "special": true},
                                            "300": {"content": "<role>", "special": false, "normalized": false}}})");
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.encode("<role>", false).ids, Ids{300});
  EXPECT_FALSE(tokenizer.is_special(300));
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {"294": {"content": "<other>"}}})");
  EXPECT_THROW(Tokenizer::load(folder.path()), InputError);
}

}  // namespace
}  // namespace buoy::text
