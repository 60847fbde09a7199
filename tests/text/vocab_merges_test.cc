#include "buoy/text/tokenizer/vocab_merges.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "support/temp_folder.h"
#include "text/support.h"

namespace buoy::text {
namespace {

constexpr const char* kConfig = R"({
  "tokenizer_class": "DreamTokenizer", "bos_token": "<|beginoftext|>", "mask_token": {"content": "<|mask|>"},
  "added_tokens_decoder": {
    "294": {"content": "<|endoftext|>", "lstrip": false, "rstrip": false, "normalized": false, "single_word": false,
            "special": true},
    "295": {"content": "<tool_call>", "special": false}}})";

void write_files(const testing::TempFolder& folder, const std::string& merges_end = "\n") {
  const Json json = tiny_tokenizer_json();
  std::string merges = "#version: 0.2\n";
  for (const Json& merge : json["model"]["merges"]) merges += merge.get<std::string>() + merges_end;
  folder.write("vocab.json", json["model"]["vocab"].dump());
  folder.write("merges.txt", merges);
  folder.write("tokenizer_config.json", kConfig);
  folder.write("added_tokens.json", R"({"<|endoftext|>": 294, "<|mask|>": 297, "<caf\u00e9>": 298})");
}

TEST(VocabMerges, EncodesAsTheSameTokenizerJsonDoes) {
  for (const char* end : {"\n", "\r\n"}) {
    const testing::TempFolder folder;
    write_files(folder, end);
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    for (const std::string text :
         {"the buoy and the sea", "aaaaaaa!!!  \n\n", "don't mask 2024 cafe\u0301"}) {
      EXPECT_EQ(tokenizer.encode(text, true).ids, tiny_tokenizer().encode(text, false).ids) << text;
    }
  }
}

TEST(VocabMerges, TakesAddedTokensFromBothFiles) {
  const testing::TempFolder folder;
  write_files(folder);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.encode("<|mask|><|endoftext|><tool_call>", false).ids,
            (std::vector<std::int32_t>{297, 294, 295}));
  EXPECT_TRUE(tokenizer.is_special(294));
  EXPECT_FALSE(tokenizer.is_special(295));
  EXPECT_TRUE(tokenizer.is_special(297));
  EXPECT_FALSE(tokenizer.is_special(298));
  EXPECT_EQ(tokenizer.id_limit(), 299);
  EXPECT_EQ(tokenizer.token_text(296), "<id 296>");
}

TEST(VocabMerges, NormalisesBeforeLookingForAddedTokens) {
  const testing::TempFolder folder;
  write_files(folder);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const Encoding encoding = tokenizer.encode("x<cafe\u0301><|mask|>", false);
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{'x', 298, 297}));
  EXPECT_EQ(encoding.spans[1], (ByteSpan{1, 9}));
  EXPECT_EQ(encoding.spans[2], (ByteSpan{9, 17}));
}

TEST(VocabMerges, RefusesOtherTokenizersAndBrokenFiles) {
  const testing::TempFolder folder;
  write_files(folder);
  const auto expect_refused = [&](const char* file, std::string_view text, const char* names) {
    write_files(folder);
    folder.write(file, text);
    const std::string message = error_message<InputError>([&] { Tokenizer::load(folder.path()); });
    EXPECT_NE(message.find(names), std::string::npos) << message;
  };
  expect_refused("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})", "tokenizer_class");
  expect_refused("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "y"}}})",
                 "token id as key");
  expect_refused("tokenizer_config.json", R"({"added_tokens_decoder": {"-4": {"content": "y"}}})",
                 "token id as key");
  expect_refused("tokenizer_config.json", R"({"added_tokens_decoder": [1]})", "added_tokens_decoder");
  expect_refused("added_tokens.json", R"({"<|endoftext|>": 296})", "<|endoftext|>");
  expect_refused("added_tokens.json", R"({"<|x|>": 12})", "<|x|>");
  expect_refused("added_tokens.json", R"({"<|x|>": -12})", "<|x|>");
  expect_refused("added_tokens.json", "[]", "added_tokens.json");
  expect_refused("vocab.json", R"({"a": 0})", "256 bytes");
  expect_refused("merges.txt", "#version: 0.2\nh e\nabc\n", "merge 1");
  expect_refused("merges.txt", "h e x\n", "merge 0");
  expect_refused("merges.txt", "q q\n", "merge 0");
  expect_refused("merges.txt", "\xFF\n", "UTF-8");
}

}  // namespace
}  // namespace buoy::text
